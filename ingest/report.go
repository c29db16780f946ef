package ingest

import (
	"fmt"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Report counts the lines that were read, merged and dropped, and describes the store.
type Report struct {
	Files          []FileReport `json:"files"`
	Nodes          int64        `json:"nodes"`
	Edges          int64        `json:"edges"`
	Entries        int64        `json:"entries"`               // stored entries of one direction
	Isolated       int64        `json:"isolated"`              // nodes without an edge or a self loop
	Directed       bool         `json:"directed"`              // as stored
	Weighted       bool         `json:"weighted"`              // some weight is not 1
	Weights        string       `json:"weights"`               // the narrowest type that holds all weights exactly: "none" if all are 1, "float32" or "float64"
	Lines          int64        `json:"lines"`                 // lines of all files, with comments and blank lines
	Comments       int64        `json:"comments"`              // comment lines, blank lines and headers
	SelfLoops      int64        `json:"self_loops"`            // lines; dropped unless self loops are kept
	Duplicates     int64        `json:"duplicate_edges"`       // lines merged into an earlier one of the same direction
	Reciprocal     int64        `json:"reciprocal_edges"`      // undirected edges that were given in both directions
	Events         bool         `json:"events,omitempty"`      // lines of some table are events, see package table
	Added          int64        `json:"added_edges,omitempty"` // undirected edges of events whose weights of both directions were added by default
	Averaged       int64        `json:"averaged_edges"`        // undirected edges whose weights of both directions differ by rounding
	ZeroWeights    int64        `json:"zero_weight_edges"`     // lines dropped for a weight of 0
	RoundedWeights int64        `json:"rounded_weights"`       // lines with an integer weight beyond 2⁵³ that float64 does not hold
	BadLines       int64        `json:"bad_lines"`             // bad lines skipped
	PaddedIDs      int64        `json:"padded_ids"`            // ids with blanks around them, outside of quotes
	MissingIDs     int64        `json:"missing_ids"`           // lines dropped for an end that is blank or one of Config.Missing
	UnknownIDs     int64        `json:"unknown_ids"`           // lines dropped for a node that is not in the list of nodes
	IDs            string       `json:"ids"`                   // "numeric" (ids in increasing order) or "text" (ids in the order of first appearance)
	Bytes          int64        `json:"bytes"`                 // bytes read, as stored
	Warnings       []string     `json:"-"`                     // warnings about odd input that was accepted
	Seconds        float64      `json:"-"`                     // time of the whole run
	SecondsSync    float64      `json:"seconds_sync"`          // time of waiting until the store is on disk
	SecondsRead    float64      `json:"seconds_read"`          // time of reading and parsing
	PeakBytes      int64        `json:"edge_bytes"`            // the largest amount of memory for edges and ids
	SpilledBytes   int64        `json:"spilled_bytes"`         // bytes of temporary files, and of temporary stores that the graph is made from

	Store *shard.Manifest `json:"-"` // the manifest of the new store
}

// FileReport describes an input.
type FileReport struct {
	Name     string        `json:"name"`
	Format   string        `json:"format"`             // "node list" or the title of a graphfile.Format
	Columns  input.Columns `json:"columns,omitempty"`  // the uses of the columns of a table
	Settings []string      `json:"settings,omitempty"` // settings that a table of text was read with, such as "header=yes"
	Bytes    int64         `json:"bytes"`              // as stored
	Lines    int64         `json:"lines"`
	CRC      string        `json:"crc32c,omitempty"` // checksum of the bytes as stored

	hasHeader  bool
	firstBlank int64 // the first known line with a blank end; 0: none
}

func (t *task) reportRounded(place string, n int64) {
	if n > 0 {
		t.report.RoundedWeights += n
		t.warn(fmt.Errorf("%s: an integer weight beyond 2⁵³ is rounded, for weights are floating-point numbers (%s)", place, words.Counted(int(n), "such weight")))
	}
}

// reportPadded warns of ids with blanks around them.
func (t *task) reportPadded(list *edgeList) {
	sum := list.sum
	if sum.Padded.N == 0 {
		return
	}
	t.report.PaddedIDs += sum.Padded.N
	what := "were taken off; quote an id to keep them"
	if list.lay.HasTabs() {
		what = "were kept, but for those around integers"
	}
	t.warn(fmt.Errorf("%s:%d: blanks around ids (%d, this is the first) %s",
		list.in.Name(), sum.Padded.First, sum.Padded.N, what))
}
