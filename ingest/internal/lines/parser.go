package lines

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Parser reads the edges in the chunks of one file. It writes each end as a code: the id itself if the ids
// are small integers, and otherwise the code of [Dict]. It is not safe for concurrent use.
type Parser struct {
	Name   string
	Layout *Layout
	Slabs  *Slabs
	Dict   *Dict
	Codes  *Codes
	Signed bool

	code   []uint32
	weight []float64
	gaps   []uint32
	batch  IDBatch
	fields table.Fields
	id     []byte // buffer for an id of a bipartite graph
	kinds  map[string]uint32
}

type Slabs struct {
	Code   Slab[uint32]
	Weight Slab[float64]
}

// Lines holds the edges of a chunk. Its slices are valid until the parser reads the next chunk.
type Lines struct {
	Code   []uint32  // source and target of each edge; for text, space for their codes
	IDs    *IDBatch  // for text, ids instead of codes; else nil
	Weight []float64 // nil: the file has no weights
	Gaps   []uint32  // for every line without an edge, the number of edges before it
	Bad    Faults
	Stats  Tally
}

// ErrText is the error about a chunk with an id that is not a small canonical integer.
var ErrText = errors.New("an id is no small integer")

// Read reads one chunk. If text is set, it collects the ids in a batch for the dictionary. Otherwise codes
// are the ids themselves, and an id that is not a small integer gives [ErrText]. The result contains the bad
// lines; other errors end the run.
func (p *Parser) Read(chunk *textio.Chunk, text bool) (*Lines, error) {
	lay := p.Layout
	data := chunk.Data
	text = text || lay.IsBipartite()
	p.code = p.Slabs.Code.Room(2 * chunk.Lines)
	p.gaps = p.gaps[:0]
	if lay.HasValues() || lay.template.Weighted {
		p.weight = p.Slabs.Weight.Room(chunk.Lines)
	}
	p.batch.Reset()
	out := &Lines{Stats: Tally{Lines: int64(chunk.Lines)}}
	number := chunk.First
	edges := 0
	for position := 0; position < len(data); number++ {
		if number >= lay.first && lay.simple && !text {
			position, p.code, p.weight = lay.template.Scan(data, position,
				p.code, p.weight)
			if !lay.HasValues() { // the fast loop ignored a third number
				p.weight = p.weight[:0]
			}
			number += int64(len(p.code)/2 - edges)
			edges = len(p.code) / 2
			if position == len(data) {
				break
			}
		}
		start := position
		end := start + bytes.IndexByte(data[start:], '\n')
		position = end + 1
		if text && number >= lay.first && p.plain(data, start, end) {
			edges++
			continue
		}
		isEdge, err := p.line(out, data, start, end, number, text)
		if err != nil {
			return nil, err
		}
		if isEdge {
			edges++
		} else {
			p.gaps = append(p.gaps, uint32(edges))
		}
	}
	out.Code = p.code
	out.Gaps = p.gaps
	if lay.weight >= 0 && !lay.zerosCount {
		p.countZeros(out, chunk.First)
	}
	if text {
		p.code = slices.Grow(p.code, 2*edges)[:2*edges]
		out.Code = p.code
		out.IDs = &p.batch
	}
	if lay.HasValues() {
		out.Weight = p.weight
	}
	return out, nil
}

func (p *Parser) countZeros(out *Lines, first int64) {
	for i, w := range p.weight {
		if w != 0 {
			continue
		}
		line := first + int64(i)
		if out.Stats.Zeros.N == 0 {
			for _, edges := range p.gaps {
				if int(edges) <= i {
					line++
				}
			}
		}
		out.Stats.Zeros.add(Count{1, line})
	}
}

// plain adds the edge on the line data[start:end] to the weights and to the batch. If [Layout.cut] does not
// accept the line, or the weight is unusual, plain adds nothing and returns false.
func (p *Parser) plain(data []byte, start, end int) bool {
	line := data[start:end]
	source, target, weight, ok := p.Layout.cut(line)
	if !ok || bytes.HasPrefix(line, []byte(table.Mark)) || bytes.Equal(line, p.Layout.headerLine) || p.Layout.integers[0] && !table.IsInteger(line[:source]) ||
		p.Layout.integers[1] && !table.IsInteger(line[source+1:target]) {
		return false
	}
	if p.Layout.HasValues() {
		w, fault := table.ParseWeight(line[weight:], p.Signed)
		if fault != "" || w == 0 || w >= textio.MaxExact {
			return false
		}
		p.weight = append(p.weight, w)
	}
	p.batch.Add(p.Dict, data, start, start+source)
	p.batch.Add(p.Dict, data, start+source+1, start+target)
	return true
}

// line reads the line data[start:end] of any form, which has the given number. It reports whether the line is
// an edge, and adds bad lines to out. The other errors end the run.
func (p *Parser) line(out *Lines, data []byte, start, end int, number int64,
	text bool) (isEdge bool, err error) {
	lay := p.Layout
	line := data[start:end]
	marked := table.IsComment(line)
	if number < lay.first || marked && (lay.Market != nil || table.IsBlank(line)) {
		out.Stats.Comments++
		return false, nil
	}
	if lay.header != nil && p.fields.IsRow(line, lay.sep, lay.header) {
		out.Stats.Headers.add(Count{1, number})
		return false, nil
	}
	w, err := p.fieldsOf(line, number)
	weight := w
	if err == nil && lay.hasCodes() {
		weight, err = p.pack(w, number)
	}
	if marked && (err != nil || !table.MayBeRow(line) ||
		table.IsTitleComment(p.fields.Text)) {
		out.Stats.Comments++
		out.Stats.Remarks.add(Count{1, number})
		return false, nil
	}
	switch {
	case err != nil || lay.Market != nil:
	case text:
		p.tokens(data, line, start)
	default:
		err = p.integers()
	}
	if err != nil {
		var bad *textio.Error
		if !errors.As(err, &bad) {
			return false, err
		}
		out.Bad.add(bad)
		return false, nil
	}
	for end, i := range [...]int{lay.source, lay.target} {
		if p.fields.Padded[i] {
			out.Stats.Padded.add(Count{1, number})
		}
		if lay.integers[end] && IsRounded(p.fields.Text[i]) { // the dictionary stores it as an integer
			out.Stats.RoundedIDs.add(Count{1, number})
		}
		if len(p.fields.Text[i]) == 0 && weight != 0 {
			out.Stats.Blanks.add(Count{1, number})
		}
		if lay.integers[end] && !table.IsInteger(p.fields.Text[i]) {
			out.Stats.addForm(end, string(p.fields.Text[i]), number)
		}
	}
	if lay.weight >= 0 && textio.IsRounded(p.fields.Text[lay.weight], w) {
		out.Stats.Rounded.add(Count{1, number})
	}
	if lay.attributes && lay.weight >= 0 && !hasWeight(line) {
		out.Stats.Weightless.add(Count{1, number})
	}
	if lay.HasValues() {
		p.weight = append(p.weight, weight)
	}
	return true, nil
}

// fieldsOf splits a line into p.fields, checks the fields, and returns the weight. A line with one blank end,
// as in a list of employees and managers, is not an edge, but its other end is a node.
func (p *Parser) fieldsOf(line []byte, number int64) (weight float64, err error) {
	lay := p.Layout
	f := &p.fields
	if err := lay.split(f, line); err != nil {
		return 0, lay.splitFault(p.Name, number, err)
	}
	if lay.columns > 0 {
		f.DropEmpty(lay.columns)
	}
	need := max(lay.source, lay.target, lay.weight, lay.kind, lay.time) + 1
	if len(f.Text) < need || lay.columns > 0 && len(f.Text) != lay.columns {
		e := p.fault(number, -1, FixLine, "%s, want %s",
			words.Counted(len(f.Text), "field"), lay.want())
		if len(f.Text) == 1 && len(bytes.Fields(f.Text[0])) > 1 ||
			bytes.IndexByte(line, table.Comma) >= 0 ||
			bytes.IndexByte(line, table.Semicolon) >= 0 {
			if sep := table.Separator(p.Name,
				line); sep != lay.sep && !(sep == table.Blanks &&
				lay.sep == table.Tab) || len(f.Text) == 1 {
				e.Fix = fmt.Sprintf("the separator of this file is %s (line %d)",
					table.SeparatorName(lay.sep), lay.line)
				if len(bytes.Fields(line)) > 1 && lay.sep == table.Tab {
					e.Fix += "; if blanks separate fields too, pass {delimiter= }"
				}
			}
		}
		return 0, e
	}
	hasBlankEnd := len(f.Text[lay.source]) == 0 || len(f.Text[lay.target]) == 0
	for _, i := range [...]int{lay.source, lay.target} {
		if len(f.Text[i]) == 0 && lay.Market != nil {
			return 0, p.fault(number, i, FixLine, "empty id")
		}
		if bytes.IndexByte(f.Text[i], table.Tab) >= 0 {
			return 0, p.fault(number, i, FixLine, "%v", table.ErrTab)
		}
	}
	if lay.Market != nil {
		row, col, weight, bad := lay.Market.Entry(f, number)
		if bad != nil {
			bad.Otherwise = skipLine
			if bad.Fix == "" {
				bad.Fix = FixLine
			}
			return 0, bad
		}
		p.code = append(p.code, row, col)
		if weight == 0 && lay.zerosCount {
			weight = 1
		}
		return weight, nil
	}
	if lay.weight < 0 {
		return 1, nil
	}
	text := bytes.Trim(f.Text[lay.weight], table.Blank)
	if hasBlankEnd && len(text) == 0 {
		return 1, nil
	}
	weight, wrong := table.ParseWeightIn(text, lay.text, p.Signed)
	if table.IsMissing(string(text), table.Missing) {
		wrong = ""
		text = nil
	}
	if unit := table.UnitOf(text); wrong == "" && unit != "" && unit != lay.unit {
		e := p.fault(number, lay.weight, "leave the column out with "+lay.WithoutWeight(), "weight %s is in %s, and earlier weights are in %s", words.Quoted(text), unit, cmp.Or(lay.unit, "no unit"))
		return 0, e
	}
	if wrong == "" && lay.reciprocal {
		weight, wrong = table.Reciprocal(weight, text)
	}
	if wrong == "" {
		if weight == 0 && lay.zerosCount {
			weight = 1
		}
		return weight, nil
	}
	e := p.fault(number, lay.weight, FixLine, "weight %s %s", words.Quoted(text), wrong)
	numberFix := table.NumberFix(text)
	if numberFix != "" && lay.numberSettings != "" {
		numberFix = "pass " + lay.numberSettings
	}
	switch {
	case wrong == table.Negative:
		e.Msg = "weight " + cut(text) + " " + wrong
		e.Fix = lay.negativeFix()
	case wrong == table.NoReciprocal:
		e.Fix = "give it a small distance"
	case numberFix != "":
		e.Fix = numberFix + " or leave the column out with " +
			lay.WithoutWeight()
		e.Otherwise = ""
	case number == lay.line || number == lay.first:
		e.Fix = "leave the column out with " + lay.WithoutWeight()
	}
	return 0, e
}

// negativeFix returns the remedy for negative weights. Most negative amounts of payments are refunds, so that
// the remedy for payments is to omit the column.
func (lay *Layout) negativeFix() string {
	fixes := []string{table.NegativeFix, "leave the column out with " + lay.WithoutWeight()}
	title := lay.Columns[lay.weight].Title
	if lay.AreEvents || strings.EqualFold(title, "amount") || strings.EqualFold(title, "betrag") {
		slices.Reverse(fixes)
	}
	return strings.Join(fixes, ", or ")
}

// fault returns an error about the field in a column of the given line, or about the whole line if column is
// −1. fix is the remedy.
func (p *Parser) fault(number int64, column int, fix, format string, args ...any) *textio.Error {
	e := textio.Fault(p.Name, number, fix, format, args...)
	if column >= 0 && p.Layout.line > 0 { // fields of JSON have no columns
		e.Column = p.fields.Start[column] + 1
	}
	e.Otherwise = skipLine
	e.Columns = p.Layout.Columns
	return e
}

// splitFault returns the error about a line that cannot be split. A line with an open quote must not be
// skipped, because the lines on which its field continues could be read as edges.
func (lay *Layout) splitFault(name string, number int64, err error) error {
	e := table.SplitFault(name, number, lay.sep, err)
	if e.Fix == FixLine {
		e.Otherwise = skipLine
	}
	return e
}

// WithoutWeight returns the setting that omits the weights, written as in [input.Error].Fix, or "" without
// columns.
func (lay *Layout) WithoutWeight() string {
	return FieldsWithoutWeight(lay.Columns, lay.hasNamedWeight)
}

// FieldsWithoutWeight returns the setting of all columns except the weights, written as in [input.Error].Fix.
// It returns "" if no column is a source. If hasNamedWeight is set, the text says that this setting replaces the
// setting that names the column of the weight.
func FieldsWithoutWeight(columns input.Columns, hasNamedWeight bool) string {
	fields := fieldSetting(columns, "")
	if fields == "" {
		return ""
	}
	fields = "{" + fields + "}"
	if hasNamedWeight {
		fields += " in place of {weight}"
	}
	return fields
}

// fieldSetting returns the setting that names the columns of the edges, or "" if no column is a source.
// weight is the use of the column of weights, or "" to omit this column.
func fieldSetting(columns input.Columns, weight string) string {
	var titles []string
	for _, c := range columns {
		titles = append(titles, c.Title)
	}
	var list []int
	for _, use := range []string{input.Source, input.Target, weight, input.Time, input.Kind} {
		list = append(list, slices.IndexFunc(columns, func(c input.Column) bool { return use != "" && c.Use == use }))
	}
	if list[0] < 0 {
		return ""
	}
	for len(list) > 2 && list[len(list)-1] < 0 {
		list = list[:len(list)-1]
	}
	return "fields=" + table.FieldList(titles, list...)
}

// Settings returns the settings with which a table of text was read, or nil for other files.
func (lay *Layout) Settings() []string {
	weight := input.Weight
	if lay.hasNamedWeight {
		weight = ""
	}
	fields := fieldSetting(lay.Columns, weight)
	if fields == "" || lay.Market != nil || lay.attributes || lay.line == 0 {
		return nil
	}
	header := "header=no"
	if lay.HasHeader() {
		header = "header=yes"
	}
	if lay.HasTabs() { // a tab in the first line needs no setting
		return []string{fields, header}
	}
	return []string{fields, header, "delimiter=" + string(rune(lay.sep))}
}

// ZeroWarning returns the warning about edges whose weight is 0 or missing. withoutWeight is the result of
// [FieldsWithoutWeight].
func ZeroWarning(name string, zeros Count, withoutWeight string) error {
	noun := "line"
	fix := withoutWeight + " counts every pair once, and every line with {duplicates=sum}"
	if withoutWeight == "" {
		noun = "entry"
		fix = "{edge-weights=none} of classify counts every entry as 1"
	}
	return textio.Fault(name, zeros.First, fix, "%s with weight 0 or none left out",
		words.Counted(zeros.N, noun))
}

// endOf returns the id of the source (end 0) or of the target (end 1). In a column of integers it returns an
// id such as 1e+05 without fraction and exponent.
func (p *Parser) endOf(end int) []byte {
	id := p.fields.Text[[...]int{p.Layout.source, p.Layout.target}[end]]
	if p.Layout.integers[end] && !table.IsInteger(id) {
		return []byte(table.PlainInteger(string(id)))
	}
	return id
}

// integers appends the ids in p.fields as codes.
func (p *Parser) integers() error {
	var code [2]uint32
	for k := range code {
		v, ok := SmallNumber(p.endOf(k))
		if !ok {
			return ErrText
		}
		code[k] = v
	}
	p.code = append(p.code, code[:]...)
	return nil
}

// SmallNumber returns the value of a canonical integer of 32 bits.
func SmallNumber(id []byte) (v uint32, ok bool) {
	if len(id) > 10 || !table.IsInteger(id) || id[0] == '-' {
		return 0, false
	}
	wide, _ := strconv.ParseUint(string(id), 10, 64)
	return uint32(wide), wide <= math.MaxUint32
}

// tokens adds the ids of a line to the batch. The line starts at offset in text.
func (p *Parser) tokens(text, line []byte, offset int) {
	for end, i := range [...]int{p.Layout.source, p.Layout.target} {
		id := p.endOf(end)
		start, isShared := p.fields.OffsetOf(i, line)
		switch {
		case p.Layout.IsBipartite() && len(id) > 0:
			p.id = append(append(p.id[:0], p.Layout.prefix[end]...), id...)
			p.batch.AddCopy(p.Dict, len(text), p.id)
		case isShared && bytes.Equal(id, p.fields.Text[i]):
			p.batch.Add(p.Dict, text, offset+start, offset+start+len(id))
		default:
			p.batch.AddCopy(p.Dict, len(text), id)
		}
	}
}

func cut(b []byte) string { return string(b[:min(len(b), 64)]) }
