package ingest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Duplicates is the rule for several lines of one edge.
//
// By default, lines of the same direction are merged: weights are added, and lines without weights are one
// edge. If an undirected edge then has both directions, equal weights are one edge, and different weights are
// an error. For events the weights of both directions are added. Lines are events if they have a time, or
// titles such as payer and payee or source_account and target_account.
//
// The other rules do not distinguish the directions of the lines of an undirected edge, except that
// ErrorDuplicates accepts one line of each direction if their weights are equal.
//
// SumDuplicates also applies to a graph without weights. The weight of an edge is then its number of lines.
type Duplicates int

// Rules for duplicates.
const (
	DefaultDuplicates Duplicates = iota
	SumDuplicates
	MaxDuplicates
	MinDuplicates
	FirstDuplicates
	ErrorDuplicates
)

// UnknownIDs is the rule for ids that are not in the graph, and for edges with an id that the file of nodes
// does not list.
type UnknownIDs int

// DefaultUnknown accepts edges of unlisted nodes, which get the rows after the listed nodes. It refuses
// labels of nodes that are not in the graph.
const (
	DefaultUnknown UnknownIDs = iota
	ErrorUnknown
	SkipUnknown
)

// Order is the order of the rows of the store. Ids and outputs do not depend on it, except that sums agree
// only up to rounding.
//
// DegreeOrder sorts nodes by decreasing number of lines before duplicates are merged. LocalityOrder puts the
// nodes of a community next to each other, see [partition.Locality]. It needs the graph in memory without
// directions and weights, 12 bytes for each entry.
//
// AutoOrder is DegreeOrder if that makes sweeps faster: if the graph has at least 65,536 nodes, few nodes
// have most of the edges, and these nodes are scattered among the other nodes. Otherwise AutoOrder is the
// default order.
type Order int

// DefaultOrder is the order of the ids.
const (
	DefaultOrder Order = iota
	DegreeOrder
	LocalityOrder
	AutoOrder
)

var (
	orderNames     = []string{"none", "degree", "locality", "auto"}
	duplicateNames = []string{"", "sum", "max", "min", "first", "error"}
)

// Config are the settings of [Run]; nil is the zero value.
type Config struct {
	Directed     bool                                  // keep the direction of edges; default: as the files say, otherwise undirected
	Undirected   bool                                  // forget the direction of edges, whatever the files say
	KeepLoops    bool                                  // keep edges from a node to itself; default: drop and count them
	Duplicates   Duplicates                            // rule for several lines of an edge; its zero value is the default
	Nodes        string                                // a file of ids that get the first rows, one on each line; "" for none
	Fields       []string                              // the columns of source, target and weight, as numbers from 1 or titles of a header; nil: by their titles, or the first two or three
	Weight       string                                // the column, or the edge attribute of GraphML and JSON, with the weight, as in "count", or its reciprocal, as in "1/distance"; "": the usual titles
	Unweighted   bool                                  // replace all weights by 1, also weights of 0
	Kind         string                                // the column, or the edge attribute of GraphML and JSON, with the kind of an edge; "": edges have no kinds
	Time         string                                // the column with the time of an edge; "": edges have no times
	Signed       bool                                  // accept negative weights, see graph.Graph
	Bipartite    bool                                  // sources and targets are two kinds of nodes: each id gets a prefix, the title of its column (else source or target) and a colon
	Text         input.Text                            // delimiter, decimal character and encoding of text; default: decide from the text
	Header       nodefile.Header                       // default: decide from the text, see the package documentation
	Missing      []string                              // ids that are not nodes: their lines are dropped and counted; nil: none, with a warning of words such as NA
	SkipBadLines bool                                  // skip and count bad lines
	UnknownIDs   UnknownIDs                            // rule for edges with a node that is not in Nodes; default: accept
	Order        Order                                 // order of the store's rows; default: the order of the ids
	Force        bool                                  // replace an existing store
	TempDir      string                                // the directory of temporary files; "": the directory that holds the store
	Memory       int64                                 // bytes for edges, ids and their sorting; 0 means no limit
	Window       int64                                 // the largest window of a zstd input, which takes memory while it is read; 0: 128 MiB
	Workers      int                                   // 0 means one for each processor
	Stdin        io.Reader                             // the input that "-" names; nil: os.Stdin
	Sources      []*Source                             // further inputs, read after the files
	Progress     func(stage string, done, total int64) // called often, by one goroutine at a time; may be nil
	Warn         func(error)                           // called with each warning about the input; may be nil

	// Store holds further settings; the fields above take precedence.
	Store *shard.WriteOptions
}

// Stages in calls of [Config].Progress. The stage of reading is readingStage, a blank and the name of a file;
// its progress is in bytes as stored. The other stages count rows. A total of 0 means that the total is not
// known.
const (
	readingStage  = "reading"
	orderingStage = "ordering"
	writingStage  = "writing"
)

func (c *Config) fields() []string {
	if c.Weight != "" && len(c.Fields) == 2 {
		column, _ := table.SplitWeight(c.Weight)
		return append(slices.Clone(c.Fields), column)
	}
	return c.Fields
}

// validate returns one error about all problems of the settings.
func (c *Config) validate() error {
	var problems []error
	bad := func(option, format string, args ...any) {
		problems = append(problems,
			&nodefile.ParseError{Option: option, Msg: fmt.Sprintf(format, args...),
				Err: nodefile.ErrInput})
	}
	if c.Directed && c.Undirected {
		problems = append(problems,
			&nodefile.ParseError{Option: "directed",
				Msg: "an edge has a direction or not",
				Fix: "give it or {undirected}", Err: nodefile.ErrInput})
	}
	if c.Fields != nil && len(c.Fields) != 2 && len(c.Fields) != 3 {
		bad("fields", "%s, want 2 or 3 (source, target, weight)",
			words.Counted(len(c.Fields), "field"))
	}
	for i, f := range c.Fields {
		if n, err := strconv.Atoi(f); table.Numbers(c.Fields) &&
			(err != nil || n > nodefile.MaxFields) {
			bad("fields", "column %s; columns run from 1 to %d", f,
				nodefile.MaxFields)
		}
		if slices.Contains(c.Fields[:i], f) {
			bad("fields", "column %s is named twice", f)
		}
	}
	if c.Weight != "" && len(c.Fields) == 3 {
		bad("weight", "the columns of fields name a weight too; leave one of them out")
	}
	if c.Fields != nil && !table.Numbers(c.Fields) &&
		c.Header == nodefile.NoHeader {
		bad("fields", "names columns of a header, and the file has no header; give numbers")
	}
	for _, enum := range []struct {
		option       string
		value, count int
	}{
		{"duplicates", int(c.Duplicates), len(duplicateNames)}, {"unknown-ids", int(c.UnknownIDs), 3},
		{"order", int(c.Order), len(orderNames)}, {"header", int(c.Header), 3},
	} {
		if enum.value < 0 || enum.value >= enum.count {
			bad(enum.option, "%d is none of its values", enum.value)
		}
	}
	if c.Memory < 0 {
		bad("max-memory", "%d bytes", c.Memory)
	}
	if c.Window < 0 {
		bad(textio.WindowOption, "%d bytes", c.Window)
	}
	return errors.Join(problems...)
}
