package ingest

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/internal/sched"
)

type matrix struct {
	rows     uint64
	first    uint64 // number of row 0
	symmetry string // as in a Matrix Market file; "directed": directed for any entries
}

type foreign struct {
	run  *reader
	in   *textio.Reader
	file int

	batch  lines.IDBatch
	code   []uint32
	digits []byte
	held   int64 // bytes that the format's reader keeps
	zeros  lines.Count
}

const headBytes = 4 << 10

func (c *Config) recognize(ctx context.Context,
	in *textio.Reader) (*graphfile.Format, error) {
	if folder := filepath.Dir(in.Name()); in.Name() == graphfile.ArraysFile(folder) && graphfile.IsArrays(folder) {
		return graphfile.Arrays, nil
	}
	head := in.Peek(headBytes)
	if err := textio.CheckRead(in.Name(), head); err != nil {
		return nil, err
	}
	if m := tablefile.Recognize(in.Name(), head); m != nil && !(m.Text && c.Fields != nil) {
		return nil, textio.Fault(in.Name(), 0, m.NoGraph,
			"%s, which holds features and no edges", m.Title)
	}
	format := graphfile.Recognize(in.Name(), in.Peek(textio.HeadBytes))
	if format == graphfile.BVGraph && !graphfile.IsBVGraph(ctx, in.Name()) {
		if err := in.CheckText(); err != nil {
			return nil, err
		}
		if properties := graphfile.MissingProperties(in.Name(), head); properties != "" {
			return nil, textio.Fault(in.Name(), 0, "put that file next to it",
				"no text; a BVGraph needs %s", properties)
		}
		format = graphfile.EdgeList
	}
	if format == graphfile.EdgeList {
		if err := graphfile.CheckRead(in.Name(), in.Peek(textio.HeadBytes)); err != nil {
			return nil, err
		}
	}
	return format, nil
}

func (r *reader) readForeign(in *textio.Reader, format *graphfile.Format,
	several bool) error {
	f := &foreign{run: r, in: in, file: len(r.t.files) - 1}
	r.t.files[f.file].Format = format.Title
	if format == graphfile.Arrays {
		r.t.files[f.file].Name = filepath.Dir(in.Name())
	}
	var last int64 // number of the last line
	defer func() { r.close(in, f.file, last) }()
	name := r.t.files[f.file].Name
	if err := r.c.checkFlags(name, format); err != nil {
		return err
	}
	if format.Text && (format.Encoded == nil || !format.Encoded(in.Peek(2))) {
		if err := in.CheckText(); err != nil {
			return err
		}
	}
	input := r.c.graphInput(in, &r.t.codes)
	input.Hold = f.hold
	g, err := graphfile.Read(format, input, f.visit)
	if r.t.ctx.Err() != nil {
		return sched.Cause(r.t.ctx)
	}
	if changed := in.CheckUnchanged(); changed != nil {
		return changed
	}
	if err != nil {
		return err
	}
	last = g.Lines
	r.t.report.Events = r.t.report.Events || g.AreEvents
	if format.Table || !g.Columns.IsUsual() {
		r.t.files[f.file].Columns = g.Columns
	}
	r.t.reportRounded(name+g.RoundedAt, g.Rounded)
	if f.zeros.N > 0 {
		r.t.warn(lines.ZeroWarning(name, f.zeros, lines.FieldsWithoutWeight(g.Columns, r.c.Weight != "")))
	}
	for _, note := range g.Notes {
		r.t.warn(note)
	}
	if g.Numbered {
		if several {
			return refuse(name, "give it alone", "a %s file numbers its own nodes",
				format.Title)
		}
		r.names.matrix = &matrix{rows: g.Nodes, first: g.First, symmetry: map[graphfile.Direction]string{
			graphfile.BySymmetry: graphfile.General, graphfile.Undirected: graphfile.Symmetric, graphfile.Directed: "directed",
		}[g.Direction]}
	}
	return r.state(name, g.Direction)
}

func (c *Config) graphInput(in *textio.Reader,
	codes *lines.Codes) *graphfile.Input {
	weight, isReciprocal := table.SplitWeight(c.Weight)
	input := &graphfile.Input{
		Name: in.Name(), Text: in.Content(), Directed: c.Directed,
		Undirected: c.Undirected, Fields: c.fields(), Weight: weight, Reciprocal: isReciprocal,
		Kind: c.Kind, Code: codes.Code, Signed: c.Signed,
		Bipartite: c.Bipartite,
	}
	codes.HasKinds = c.Kind != ""
	codes.HasTimes = c.Time != ""
	input.Time, input.TimeForm = table.SplitTimeSetting(c.Time)
	input.File, input.Size = in.File()
	return input
}

// checkFlags returns an error about a setting that the format of a file does not have.
func (c *Config) checkFlags(name string, format *graphfile.Format) error {
	file := name + " is a " + format.Title + " file"
	const leave = "leave it out"
	isForeign := format.Read != nil
	for _, refusal := range []struct {
		isWrong          bool
		option, msg, fix string
	}{
		{c.Fields != nil && isForeign && !format.Table, "fields",
			"is for edge lists; " + file, leave},
		{c.Weight != "" && isForeign && !format.Table && !format.Attributes,
			"weight", "names one of several weights; " + file +
				", which has one at the most", leave},
		{c.Kind != "" && !format.Attributes && !format.Table, "kind",
			"names a column or an attribute; " +
				file, "write its edges as a table with a header"},
		{c.Time != "" && !format.Attributes && !format.Table, "time",
			"names a column or an attribute; " +
				file, "write its edges as a table with a header"},
		{c.Bipartite && !format.Table, "bipartite",
			"is for tables of edges; " + file, leave},
		{c.Header != nodefile.AutoHeader && isForeign, "header",
			"is for edge lists; " + file, leave},
		{c.SkipBadLines && isForeign, "skip-bad-lines",
			"is for edge lists; " + file, leave},
	} {
		if refusal.isWrong {
			return &nodefile.ParseError{Option: refusal.option, Msg: refusal.msg,
				Fix: refusal.fix, Err: nodefile.ErrInput}
		}
	}
	return nil
}

// state records the direction of edges that a file states.
func (r *reader) state(name string, d graphfile.Direction) error {
	if d != graphfile.Directed && d != graphfile.Undirected || r.c.Directed ||
		r.c.Undirected {
		return nil
	}
	if r.stated != graphfile.Unstated && r.stated != d {
		return textio.Fault(name, 0, "pass {directed} or {undirected}",
			"its edges have directions or not, unlike those of %s", r.statedBy)
	}
	r.stated = d
	r.statedBy = name
	return nil
}

func (f *foreign) hold(bytes int64) error {
	f.held = bytes
	return f.run.m.fit(0, bytes)
}

func (f *foreign) visit(b *graphfile.Batch) error {
	if err := f.take(b); err != nil {
		return err
	}
	done, total := f.in.Progress()
	f.run.t.progress(readingStage+" "+f.in.Name(), done, total)
	return nil
}

func (f *foreign) take(b *graphfile.Batch) error {
	r := f.run
	if r.t.ctx.Err() != nil {
		return sched.Cause(r.t.ctx)
	}
	p := &part{seq: r.names.seq, file: f.file}
	r.names.seq++
	if err := f.codes(p, b); err != nil {
		return err
	}
	for i, w := range b.Weight {
		switch {
		case w != 0:
		case r.c.Unweighted:
			b.Weight[i] = 1
		default:
			f.zeros.N++
		}
	}
	if b.Edges {
		p.code = f.code
		p.weighted = len(b.Weight) > 0
		p.values = p.weighted || r.c.hasCodes()
		if p.weighted {
			p.weight = b.Weight
		}
		if r.c.hasCodes() {
			var err error
			if p.weight, err = packCodes(r.t.files[f.file].Name, b); err != nil {
				return err
			}
		}
		if err := r.addPart(0, p); err != nil {
			return err
		}
	}
	return r.m.fit(0, f.held)
}

// codes stores the codes of the ids of a batch in f.code. If the file numbers its nodes, or all ids are small
// numbers, the codes are the numbers. Otherwise they are codes of the dictionary.
func (f *foreign) codes(p *part, b *graphfile.Batch) error {
	r := f.run
	n := len(b.Number) + len(b.End)
	f.code = slices.Grow(f.code[:0], n)[:n]
	if b.Numbered || len(b.Number) > 0 && !r.names.useDict.Load() && slices.Max(b.Number) <= math.MaxUint32 {
		for i, n := range b.Number {
			f.code[i] = uint32(n)
		}
		return nil
	}
	r.names.useDict.Store(true)
	f.batch.Reset()
	for _, n := range b.Number {
		f.digits = strconv.AppendUint(f.digits[:0], n, 10)
		f.batch.AddCopy(r.names.dict, 0, f.digits)
	}
	start := 0
	for _, end := range b.End {
		f.batch.AddCopy(r.names.dict, 0, b.Text[start:end])
		start = end
	}
	return r.names.codes(p, f.code, nil, &f.batch)
}

func (r *reader) readSource(s *Source) error {
	f := &foreign{run: r, file: len(r.t.files)}
	r.t.files = append(r.t.files, FileReport{Name: s.Name}) // a report about all parts of the source
	files, err := s.Read(r.t.ctx, f.take, f.hold)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		r.t.files = append(r.t.files[:f.file], files...)
	}
	for _, file := range files {
		r.t.report.Bytes += file.Bytes
		r.t.report.Lines += file.Lines
	}
	return nil
}
