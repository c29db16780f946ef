package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Layout describes the lines of an edge list: the separator, the columns, and the settings that decide how a
// line is read. The columns are numbered from 0.
type Layout struct {
	sep            byte
	source, target int
	weight         int // −1: none
	kind, time     int // −1: none
	form           table.TimeForm
	columns        int   // number of fields of a line; 0: any number that suffices
	line           int64 // line of the header, or first line; 0 for titles of JSON objects and in Matrix Market
	first          int64 // line of the first edge, after comments and a header
	template       Template
	simple         bool    // lines may follow the template
	attributes     bool    // each line ends in a dictionary of NetworkX
	integers       [2]bool // the ids of the first lines are whole numbers, so that 1e+05 is read as 100000, see Tally.Joined
	zerosCount     bool    // replace a weight of 0 by 1
	hasNamedWeight bool    // a setting names the column of the weight
	reciprocal     bool    // weights are the reciprocals of the column
	text           input.Text
	unit           string // unit of the weights of the first lines, see [table.SplitAmount]; ""
	titles         string
	numberSettings string                  // text settings with which all weights of the first lines are numbers; "": none are needed, or unknown
	header         []string                // nil without a header and for JSON
	headerLine     []byte                  // header with one separator between fields
	Columns        input.Columns           // nil for a Matrix Market file
	prefix         [2]string               // prefixes of the ids of a bipartite graph: the titles of their columns
	Market         *graphfile.MarketReader // nil for other files

	AreEvents bool                // see [table.EdgeTable]
	Direction graphfile.Direction // direction in Gephi's column Type
	IsMixed   bool                // Gephi's column Type states both directions
}

// findDirection sets the direction of the graph if the column Type states the same direction in all of the
// first lines.
func (h *head) findDirection() {
	column := slices.IndexFunc(h.s.Titles,
		func(title string) bool { return strings.EqualFold(title, "type") })
	if column < 0 || len(h.s.Rows) == 0 {
		return
	}
	count := map[string]int{}
	for _, row := range h.s.Rows {
		if column < len(row) {
			count[strings.ToLower(row[column])]++
		}
	}
	switch directed := count["directed"]; len(h.s.Rows) {
	case directed:
		h.lay.Direction = graphfile.Directed
	case count["undirected"]:
		h.lay.Direction = graphfile.Undirected
	case directed + count["undirected"]:
		h.lay.IsMixed = true
	}
}

func (lay *Layout) HasHeader() bool {
	return lay.first > lay.line && lay.Market == nil
}

// HasValues reports whether lines have values: weights, or codes of kinds and times, which are packed with
// weights.
func (lay *Layout) HasValues() bool {
	return lay.weight >= 0 || lay.hasCodes()
}

func (lay *Layout) HasWeights() bool { return lay.weight >= 0 }

func (lay *Layout) hasCodes() bool {
	return lay.kind >= 0 || lay.time >= 0
}

func (lay *Layout) IsBipartite() bool {
	return lay.prefix[0] != ""
}

func (lay *Layout) HasTabs() bool { return lay.sep == table.Tab }

// Settings has fields as in ingest.Config.
type Settings struct {
	Fields       []string
	Text         input.Text
	Weight       string
	Reciprocal   bool
	Unweighted   bool
	Kind, Time   string
	TimeForm     table.TimeForm
	Bipartite    bool
	Signed       bool
	Header       nodefile.Header
	TextIDs      [2]bool // ids of sources and targets that are text although the first lines have whole numbers
	SkipBadLines bool
	MaxNodes     int // largest number of nodes that a file may declare
	Warn         func(error)
}

// LayoutOf determines the layout of an input. If the input is empty, it returns nil. It adds the comments of
// the chunks before the first data to sum.
func (c *Settings) LayoutOf(in *textio.Reader, sum *Tally) (*Layout, error) {
	head, err := in.Head()
	if err == nil && graphfile.IsMarket(in.Name(), head.Data) {
		return c.marketLayout(in, sum)
	}
	if errors.Is(err, io.EOF) && table.IsNamed(in.Name(), ".mtx") {
		return nil, textio.Fault(in.Name(), 0, fetchAgain, "empty file")
	}
	if err == nil && head.First == 0 {
		c.Header = nodefile.HasHeader
		c.Text.Delimiter = "\t"
	}
	for ; err == nil; head, err = in.Head() {
		if lay, err := c.layoutIn(in.Name(), head, factorOf(in, head)); lay != nil || err != nil {
			return lay, err
		}
		sum.addComments(head)
		in.Drop()
	}
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return nil, err
}

func factorOf(in *textio.Reader, chunk *textio.Chunk) float64 {
	_, total := in.Progress()
	return max(1, float64(total)*in.Growth()/float64(len(chunk.Data)))
}

// layoutIn determines the layout of the edge list that continues with the chunk. If the chunk has only
// comments, it returns nil. If bad lines are skipped, the first line that can be an edge determines the
// layout. factor is as in [isSizes].
func (c *Settings) layoutIn(name string, chunk *textio.Chunk,
	factor float64) (*Layout, error) {
	var first *Layout
	var firstErr error
	konect := ""
	if chunk.First == 1 {
		konect = konectKind(chunk.Data)
	}
	if sep := table.DeclaredSeparator(chunk.Data); sep != "" && chunk.First == 1 &&
		c.Text.Delimiter == "" {
		c.Text.Delimiter = sep
	}
	separator := func(line []byte) byte { return c.separatorOf(name, konect != "", line) }
	start, doubtful := table.FirstData(chunk.Data, separator, nil)
	if doubtful >= 0 {
		c.Warn(fmt.Errorf("%s:%d: taken as a comment; if it is an edge, write a header line such as source,target above it", name, chunk.First+int64(doubtful)))
	}
	if start < 0 {
		return nil, nil
	}
	var above []byte // the line above
	for number, tail := chunk.First, chunk.Data; len(tail) > 0; number++ {
		var line []byte
		var titles []byte
		data := tail
		comment := above
		line, tail, _ = bytes.Cut(tail, []byte{'\n'})
		above = line
		if number < chunk.First+int64(start) ||
			table.IsComment(line) && number > chunk.First+int64(start) {
			continue
		}
		if first == nil && konect == "" && c.Header == nodefile.AutoHeader &&
			isSizes(line, tail, factor) {
			c.Warn(textio.Fault(name, number, "pass {header=no} if it is an edge",
				"%s is taken as the numbers of nodes and edges and skipped",
				words.Quoted(bytes.TrimSpace(line))))
			continue
		}
		if first == nil && konect == "" && c.Header != nodefile.NoHeader {
			titles = table.TitlesAbove(comment, line, separator)
		}
		if titles != nil {
			settings := *c
			settings.Header = nodefile.HasHeader
			return settings.layoutFrom(name, false, number-1, titles, data)
		}
		lay, err := c.layoutFrom(name, konect != "", number, line, tail)
		if first == nil {
			first = lay
			firstErr = err
		}
		if err == nil {
			if konect == "bip" {
				c.warnKinds(name, "the file is bipartite (bip): its two kinds of nodes have numbers of their own")
			}
			if !lay.HasHeader() {
				lay.first = first.line // earlier bad lines must be counted
			}
			return lay, nil
		}
		if !c.SkipBadLines {
			break
		}
	}
	return nil, firstErr
}

const (
	FixLine  = "fix the line"
	skipLine = "pass {skip-bad-lines}"
)

// want describes the fields of a valid line, for a message.
func (lay *Layout) want() string {
	switch {
	case lay.Market != nil && lay.columns == 2:
		return "2 (row, column)"
	case lay.Market != nil:
		return "3 (row, column, value)"
	case lay.titles != "" && lay.columns > 0:
		return fmt.Sprintf("%d (%s)", lay.columns, lay.titles)
	case lay.columns == 2:
		return "2 (source, target)"
	case lay.columns == 3:
		return "3 (source, target, weight)"
	}
	if lay.columns > 3 || lay.columns > 0 && lay.weight < 0 {
		return fmt.Sprintf("%d as on line %d", lay.columns, lay.line)
	}
	return fmt.Sprintf("at least %d", max(lay.source, lay.target, lay.weight)+1)
}

// cut finds the fields of a line without quotes, blanks around ids and other special characters:
// line[:source], line[source+1:target] and the weight line[weight:]. For other lines, which may be valid, ok
// is false.
func (lay *Layout) cut(line []byte) (source, target, weight int, ok bool) {
	if !lay.simple || len(line) == 0 || line[0] <= '/' {
		return 0, 0, 0, false // #, % and / are smaller
	}
	if lay.sep != table.Tab &&
		(bytes.IndexByte(line, '"') >= 0 || bytes.IndexByte(line, table.Tab) >= 0) {
		return 0, 0, 0, false
	}
	source = bytes.IndexByte(line, lay.sep)
	if source < 1 {
		return 0, 0, 0, false
	}
	target = bytes.IndexByte(line[source+1:], lay.sep) + source + 1
	if target == source { // no separator
		target = len(line)
	}
	weight = target + 1
	if (weight > len(line)) != (lay.columns < 3) || target == source+1 ||
		line[source+1] == '"' {
		return 0, 0, 0, false
	}
	if lay.columns == 3 && bytes.IndexByte(line[weight:], lay.sep) >= 0 {
		return 0, 0, 0, false
	}
	const noBreak = 0xa0 // last byte of a no-break space, whose first byte is 0xc2
	if line[0] == 0xc2 || line[source-1] == noBreak || line[source+1] == 0xc2 ||
		line[target-1] == noBreak {
		return 0, 0, 0, false
	}
	ok = line[source-1] > ' ' && line[source+1] > ' ' && line[target-1] > ' '
	return source, target, weight, ok
}
