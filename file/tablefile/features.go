package tablefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
)

// Features holds numeric attributes of nodes, a row for each node.
type Features struct {
	Table   *sparse.Table // a row for each node of the graph; missing for a node without attributes
	Unknown int           // rows skipped because their node is not in the graph
	Columns input.Columns // how the columns of a table are used; nil for a matrix

	groups []group
	mapped *os.File // file of rows that are read on demand; nil: none
}

// Close closes the file that rows of a large matrix are read from.
func (f *Features) Close() error {
	if f.mapped == nil {
		return nil
	}
	return f.mapped.Close()
}

// Names returns the names of the attributes of a table, or nil for a matrix.
func (f *Features) Names() []string {
	if f.groups == nil {
		return nil
	}
	names := make([]string, f.Table.Cols)
	for j := range names {
		names[j] = f.Name(j, nil)
	}
	return names
}

// Means returns for each attribute of a table the replacement of a missing value, or nil for a matrix.
func (f *Features) Means() []float64 {
	var means []float64
	for _, g := range f.groups {
		means = append(means, slices.Repeat([]float64{g.mean}, g.n)...)
	}
	return means
}

// Name returns the name of an attribute of a table: the title of a column of numbers, or the title with the category,
// for example "country = PL". If row is not nil, a column of numbers gets its value, for example "age = 31"; if the
// row has another category, the name is "near nodes: country = PL". For a matrix Name returns "".
func (f *Features) Name(attribute int, row []float32) string {
	for _, g := range f.groups {
		level := attribute - g.at
		switch {
		case level < 0 || level >= g.n:
		case g.levels != nil && attribute < len(row) && row[attribute] == 0:
			return "near nodes: " + g.title + " = " + g.levels[level]
		case g.levels != nil:
			return g.title + " = " + g.levels[level]
		case attribute < len(row) && g.areDays:
			day := math.Floor(float64(row[attribute]) + g.middle + 0.5/secondsOfDay) // float32 rounds the middle's fraction
			return g.title + " = " + time.Unix(int64(day)*secondsOfDay, 0).UTC().Format(time.DateOnly)
		case attribute < len(row) && g.middle != 0:
			return g.title + " = " + sumText(g.middle, row[attribute])
		case attribute < len(row):
			return g.title + " = " +
				strconv.FormatFloat(float64(row[attribute]), 'g', -1, 32)
		default:
			return g.title
		}
	}
	return ""
}

// group holds the attributes of one column of a table: one for a column of numbers, otherwise one for each category.
type group struct {
	title  string
	at, n  int      // first attribute and number of attributes
	levels []string // categories; nil: numbers
	mean   float64

	areDays bool    // numbers are days since 1970
	middle  float64 // subtracted from the numbers
}

// KeptColumn describes a column of a table of attributes, for a model.
type KeptColumn struct {
	Title      string  `json:"title"`
	Categories int     `json:"categories,omitempty"` // number of attributes with categories; 0: an attribute of numbers
	Days       bool    `json:"days,omitempty"`       // dates, as days since 1970
	Middle     float64 `json:"middle,omitempty"`     // subtracted from numbers in float64, before they are rounded to float32
}

// Kept returns the columns of a table in the order of the attributes, or nil for a matrix.
func (f *Features) Kept() (list []KeptColumn) {
	for _, g := range f.groups {
		list = append(list, KeptColumn{g.title, len(g.levels), g.areDays, g.middle})
	}
	return list
}

// CountKept returns the number of attributes of columns, or −1 if a column is not valid.
func CountKept(columns []KeptColumn) (count int) {
	for _, c := range columns {
		if c.Categories < 0 || math.IsInf(c.Middle, 0) {
			return -1
		}
		count += max(1, c.Categories)
	}
	return count
}

// FeatureConfig holds the settings of [ReadFeatures]; nil means the zero value.
type FeatureConfig struct {
	IDs         string           // file with the ids of the rows of a matrix, one a line; "": see [File.Axis]
	Rows        *Axis            // ids of the rows of a matrix; nil: see IDs
	Fields      []string         // columns of attributes of a table, numbers from 1 or titles; nil: all usable columns
	Names       []string         // [Features.Names] of a model: a table gets these attributes, by its titles; nil: its own attributes
	Means       []float64        // [Features.Means] of the model; nil: the means of the table
	Kept        []KeptColumn     // [Features.Kept] of the model; nil: the columns follow from Names
	Labels      *nodefile.Labels // known labels, whose columns are no attributes
	Missing     []string         // words for a missing value in a table, besides the words of [table.Missing] among numbers
	Text        input.Text       // form of the text of a table
	Fix         string           // remedy for nodes that are not in the graph; default: the options of ingest
	SkipUnknown bool             // skip nodes that are not in the graph, otherwise an error
	SkipBad     bool             // skip faulty lines of a table with a warning, otherwise an error
	Memory      int64            // limit of the table and of reading it (an eighth), in bytes; 0: no limit
	Stdin       io.Reader        // content of the path "-"; nil: os.Stdin
	Warn        func(error)      // called with warnings; may be nil
}

// ErrMatrix is the error of [ReadFeatures] if the settings name columns of a matrix.
var ErrMatrix = errors.New("tablefile: the columns of a matrix have no titles")

// ErrTable is wrapped by the error of [ReadFeatures] if ids are given for a table, because a table has a
// column of ids.
var ErrTable = errors.New("tablefile: the ids of a table stand in a column")

// ReadFeatures reads attributes of nodes from a matrix that [Inspect] reads and a list of the ids of its rows, or
// from a table with a column of ids.
//
// In a table, the node is in the column with such a title (node, id, …), or in the only column with nodes of the
// graph, or in the first column of a table without a header. A column of numbers becomes one attribute, and a missing
// value becomes its mean. A column of other text becomes one attribute of 0 and 1 for each category; for a missing
// value all are 0. Numbers with leading zeros, for example 01234, are text.
//
// A column of dates becomes one attribute, days since 1970. Other columns are ignored: row numbers, labels, texts that differ
// for nearly every node, and columns of more than 1,000 categories. Labels are the column with the title of Labels, and columns titled as labels that repeat it;
// if no title is known, all columns titled as labels. If Fields names the columns, these rules do not apply. The last column of a LINQS .content file is the label. The two counts above the vectors
// of word2vec are skipped. A table is read twice.
//
// The middle of a column of numbers that are farther from 0 than from each other is subtracted in float64, before they
// become float32, see [KeptColumn]. Warn is told of a column whose different numbers are then equal.
//
// The error wraps [ErrNoIDs] for a matrix without ids, and [ErrStream] for a pipe. It is a [*nodefile.ParseError] if
// there is no row, if a node has two rows, if a node is not in the graph (unless SkipUnknown is set), if a column of
// numbers has values such as <0.001, 5 kg, $5 or 1,234 or other text in up to a tenth of the values, if a column of
// Fields cannot be used, or if a column of Names is missing. If the attributes exceed Memory, the error is a
// [*budget.Error], and Features.Table has the estimated size of the whole table.
func ReadFeatures(ctx context.Context, path string, nodes nodefile.Lookup,
	c *FeatureConfig) (*Features, error) {
	c = cmp.Or(c, new(FeatureConfig))
	r := newFeatures(path, nodes, c)
	var err error
	switch isMatrix := endsAsMatrix(path) || Detect(ctx, path) != nil; {
	case isMatrix && c.Fields != nil:
		err = ErrMatrix
	case isMatrix:
		err = r.readMatrix(ctx)
	case textio.IsStream(path) && c.IDs != "": // only a matrix has a list of ids
		err = streamError(path)
	case c.IDs != "":
		if _, err = os.Stat(path); err == nil { // report a missing file as missing
			err = fmt.Errorf("%w, and so none are read from %s", ErrTable, c.IDs)
		}
	default:
		err = r.readTable(ctx)
	}
	if err == nil {
		err = r.end()
	}
	switch {
	case r.outline != nil:
		r.Table = r.outline
	case err != nil:
		return nil, errors.Join(err, r.Close())
	}
	return r.Features, err
}

const readingShare = 8

type features struct {
	*Features
	c       *FeatureConfig
	file    string
	nodes   nodefile.Lookup
	unknown nodefile.Unknown
	ids     Axis
	reading int64         // bytes of a row beyond the share of the limit for reading; ≤ 0: none
	outline *sparse.Table // estimated size of a table that exceeds the limit, else nil
}

func newFeatures(path string, nodes nodefile.Lookup, c *FeatureConfig) *features {
	return &features{Features: new(Features), c: c, file: path, nodes: nodes,
		unknown: nodefile.Unknown{Nodes: nodes}}
}

func (r *features) readMatrix(ctx context.Context) error {
	f, err := Inspect(ctx, r.file, &Options{Memory: r.c.Memory / readingShare})
	if err != nil {
		return err
	}
	if err := r.readIDs(ctx, f); err != nil {
		return err
	}
	if f.isMapped(r.c.Memory) {
		return r.mapMatrix(ctx, f)
	}
	r.reading = f.rowBytes(4) - r.c.Memory/readingShare
	if err := budget.Check(r.c.Memory, r.reading, "a row of attributes"); err != nil {
		return err
	}
	r.Table = &sparse.Table{Rows: r.nodes.Len(), Cols: f.Cols}
	i := 0
	if !f.Single && f.isArray() {
		return r.readWide(ctx, f)
	}
	return Read(ctx, f, func(_ []byte, row []float32) error {
		i++
		return r.add(0, []byte(r.ids.ID(i-1)), row)
	})
}

// readIDs reads the ids of the rows of a matrix. Without ids, row i is node i, and the graph must have the nodes 0 …
// n−1 for n rows.
func (r *features) readIDs(ctx context.Context, f *File) (err error) {
	if r.c.Rows != nil {
		r.ids = *r.c.Rows
		return nil
	}
	if r.c.IDs != "" {
		r.ids, err = ReadAxis(ctx, r.c.IDs, f.Rows, r.c.Stdin)
		return err
	}
	if r.ids, err = f.Axis(ctx, "rows"); !errors.Is(err, ErrNoIDs) {
		return err
	}
	n := r.nodes.Len()
	for i := range n {
		if _, isNode := r.nodes.Lookup(strconv.Itoa(i)); !isNode {
			return err
		}
	}
	if n != f.Rows {
		return textio.Fault(f.Name, 0,
			"give each node a row, or name the ids of the rows in a file",
			"%d rows, but the graph has %d nodes", f.Rows, n)
	}
	r.ids = Axis{n, strconv.Itoa}
	return nil
}

// add adds the row of a node; line is 0 for a matrix.
func (r *features) add(line int64, id []byte, values []float32) error {
	row, isNode := r.unknown.Find(r.nodes.Lookup, line, id)
	if !isNode {
		return nil
	}
	if r.Table.Has(row) {
		return textio.Fault(r.file, line, "keep one of them", "%s has two rows",
			words.Quoted(id))
	}
	r.Table.Set(row, values)
	if bytes := r.Table.Bytes + max(0, r.reading); r.c.Memory > 0 && bytes > r.c.Memory {
		r.outline = r.Table.Outline(r.nodes.Len())
		return budget.Check(r.c.Memory, max(bytes, r.outline.Bytes), "attributes")
	}
	return nil
}

// FindLeaks returns the titles of columns that may have been made from the labels: in such a column, labelled nodes
// with the same value have the same label. At least two classes must have two nodes with a value, and there must be at
// most half as many distinct values as nodes.
//
// The agreement must also be unlikely by chance. L labels of K classes with n labels each have L! / ∏ n! orders, and at
// most K^D orders agree with D values. K^D · ∏ n! / L! must be below 1/4 divided by the number of columns.
func (f *Features) FindLeaks(l *nodefile.Labels) (titles []string) {
	classOf := make([]map[float32]int, len(f.groups))
	count := make([]map[int]int, len(f.groups))
	for i := range f.groups {
		classOf[i] = map[float32]int{}
		count[i] = map[int]int{}
	}
	if f.groups == nil {
		return nil
	}
	dense := make([]float32, f.Table.Cols)
	rows := f.Table.Reader()
	for i, row := range l.Row {
		columns, values := rows.Row(row)
		if values == nil {
			continue
		}
		clear(dense)
		if columns == nil {
			copy(dense, values)
		}
		for k, j := range columns {
			dense[j] = values[k]
		}
		for g, group := range f.groups {
			value := dense[group.at]
			if group.n > 1 {
				value = float32(slices.Index(dense[group.at:group.at+group.n], 1))
			}
			class, isClass := classOf[g][value]
			switch {
			case classOf[g] == nil || group.n > 1 && value < 0:
				continue
			case isClass && class != l.Class[i]:
				classOf[g] = nil
				continue
			}
			classOf[g][value] = l.Class[i]
			count[g][l.Class[i]]++
		}
	}
	for g, group := range f.groups {
		// orders is a logarithm to base 2.
		large := 0
		labels := 0
		orders := 0.0
		for _, n := range count[g] {
			if n > 1 {
				large++
			}
			labels += n
			orders -= logFactorial(n)
		}
		orders += logFactorial(labels)
		agreeing := float64(len(classOf[g])) * math.Log2(float64(len(count[g])))
		if classOf[g] != nil && large > 1 && 2*len(classOf[g]) <= labels &&
			orders-agreeing > 2+math.Log2(float64(len(f.groups))) {
			titles = append(titles, group.title)
		}
	}
	return titles
}

// logFactorial returns log₂ n!.
func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v / math.Ln2
}

// end returns an error if there are no rows, or if there are rows of nodes that are not in the graph.
func (r *features) end() error {
	if r.unknown.Total == 0 {
		return textio.Fault(r.file, 0, "give one node a row", "no row")
	}
	r.Unknown = r.unknown.Count
	fix := cmp.Or(r.c.Fix,
		"list nodes without edges with {nodes="+r.file+
			"}, or skip unknown ids with {unknown-ids=skip}")
	return r.unknown.Err(r.file, r.c.SkipUnknown, fix)
}
