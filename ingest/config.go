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
// By default lines of the same direction are merged: without weights they are one edge, weights are added. If an undirected
// edge then has both directions, equal weights are one edge and different weights are an error. For events the weights of
// both directions are added; events are lines with a time, or with titles such as payer and payee or source_account and
// target_account. Every other rule treats all lines between two nodes of an undirected graph alike; only ErrorDuplicates
// accepts one line of each direction if their weights are equal.
//
// SumDuplicates also adds up a graph without weights: the weight of an edge is then its number of lines.
type Duplicates int

// What to do with duplicates.
const (
	DefaultDuplicates Duplicates = iota
	SumDuplicates
	MaxDuplicates
	MinDuplicates
	FirstDuplicates
	ErrorDuplicates
)

// UnknownIDs is the rule for ids that are not in the graph, or for edges with an id that is not in
// the file of nodes.
type UnknownIDs int

// The zero value accepts edges between nodes that the file of nodes does not list, which get the rows after the listed nodes,
// and refuses labels for nodes that are not in the graph.
const (
	DefaultUnknown UnknownIDs = iota
	ErrorUnknown
	SkipUnknown
)

// Order is the order of the rows of the store. Ids and outputs do not depend on it; sums are added up in another order, and
// agree up to rounding.
//
// DegreeOrder sorts by the number of lines of a node, before duplicates are merged. AutoOrder is DegreeOrder for a graph of
// 65,536 nodes or more if few nodes have most of the edges and are scattered among the others, so that every sweep is faster;
// otherwise it is the default order. LocalityOrder reads the graph, without directions and weights, which takes 12 bytes an
// entry. See package partition.
type Order int

// The zero value leaves the rows in the order of the ids.
const (
	DefaultOrder Order = iota
	DegreeOrder
	LocalityOrder
	AutoOrder
)

// Names of the settings in the manifest of a store.
var (
	orderNames     = []string{"none", "degree", "locality", "auto"}
	duplicateNames = []string{"", "sum", "max", "min", "first", "error"}
)

// Config are the settings of [Run]; nil is the zero value.
type Config struct {
	Directed     bool                                  // keep the direction of edges; default: as the files say, and no direction if they say nothing
	Undirected   bool                                  // forget the direction of edges, whatever the files say
	KeepLoops    bool                                  // keep edges from a node to itself; default: drop and count them
	Duplicates   Duplicates                            // rule for several lines of an edge; its zero value is the default
	Nodes        string                                // a file of ids that get the first rows, one a line; "" for none
	Fields       []string                              // the columns of source, target and weight, numbers from 1 or titles of a header; nil: by their titles, or the first two or three
	Weight       string                                // the column, or the edge attribute of GraphML and JSON, that is the weight; "": the usual titles
	Unweighted   bool                                  // all weights will be replaced by 1: a line with weight 0 is an edge too
	Kind         string                                // the column, or the edge attribute of GraphML and JSON, that is the kind of an edge; "": edges have no kinds
	Time         string                                // the column that is the time of an edge; "": edges have no times
	Signed       bool                                  // accept negative weights, see graph.Graph
	Bipartite    bool                                  // sources and targets are two kinds of nodes: ids get the titles of their columns in front, or source and target, and a colon
	Text         input.Text                            // how text is read: delimiter, decimal character, encoding; default: decide from it
	Header       nodefile.Header                       // default: decide from the text, see the package documentation
	Missing      []string                              // ids that are no nodes: their lines are dropped and counted; nil: none, with a warning of words such as NA
	SkipBadLines bool                                  // count bad lines and go on
	UnknownIDs   UnknownIDs                            // for edges with a node that is not in Nodes; default: accept
	Order        Order                                 // of the store's rows; default: the order of the ids
	Force        bool                                  // replace the store that is there
	Codec        string                                // of the shards; "": the usual one
	TempDir      string                                // the directory of temporary files; "": the directory that holds the store
	Memory       int64                                 // bytes for edges, ids and their sorting; 0 means no limit
	Window       int64                                 // the largest window of a zstd input, which is kept in memory while it is read; 0: 128 MiB
	Workers      int                                   // 0 means one for each processor
	Stdin        io.Reader                             // the input that "-" names; nil: os.Stdin
	Sources      []*Source                             // further inputs, behind the files
	Progress     func(stage string, done, total int64) // called often, by one goroutine at a time; may be nil
	Warn         func(error)                           // called with each warning about the input; may be nil

	// Store has further settings of the store; the fields above take precedence.
	Store *shard.WriteOptions
}

// Stages of [Config].Progress. While files are read, the stage is "reading" and the name of the file,
// and the units are bytes as stored; else they are rows. A total of 0 is not known.
const (
	readingStage  = "reading"
	orderingStage = "ordering"
	writingStage  = "writing"
)

// fields returns the columns of an edge that the settings name, nil if they name none.
func (c *Config) fields() []string {
	if c.Weight != "" && len(c.Fields) == 2 {
		return append(slices.Clone(c.Fields), c.Weight)
	}
	return c.Fields
}

// validate reports all problems of the settings at once.
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
