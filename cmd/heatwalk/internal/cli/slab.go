package cli

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/nodefile"
)

// slabFlag is slab Index, from 0, of Of; Of is 0 without --slab.
type slabFlag struct{ Index, Of int }

// maxSlabs bounds the number of slabs.
const maxSlabs = 1 << 20

func (in *invocation) slabVar(flags *pflag.FlagSet, s *slabFlag, of string) {
	in.variable(flags, "slab", "I/M", "", "do only slab I, from 0, of M slabs of "+of+"; heatwalk merge puts them together", s.set)
}

func (s *slabFlag) set(text string) error {
	index, of, _ := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	m, wrong := strconv.Atoi(of)
	switch {
	case err != nil || wrong != nil || m < 1 || m > maxSlabs:
		return fmt.Errorf("%s is no slab; give I/M, as in 0/8 for the first of eight", quoted(text))
	case i < 0 || i >= m:
		return fmt.Errorf("%s is no slab; slabs of %d are numbered 0 to %d", quoted(text), m, m-1)
	}
	s.Index, s.Of = i, m
	return nil
}

// String returns the flag as it is given.
func (s slabFlag) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// bounds returns what of n things, called as in "column", belongs to the slab:
// lo ≤ i < hi.
func (s slabFlag) bounds(n int, noun string) (lo, hi int, err error) {
	if s.Of == 0 {
		return 0, n, nil
	}
	if s.Of > n {
		return 0, 0, usageOf("--slab", "there are only %s; give at most %d slabs", counted(int64(n), noun), n)
	}
	return s.edge(s.Index, n), s.edge(s.Index+1, n), nil
}

// edge returns where slab i of n things begins.
func (s slabFlag) edge(i, n int) int { return int(int64(n) * int64(i) / int64(s.Of)) }

// checkSlab notes what is wrong with a slab: all slabs are to read the same
// store, and write files in one form.
func (in *invocation) checkSlab(s slabFlag, graph []string, out, format string, formats []string) {
	if s.Of == 0 {
		return
	}
	if len(graph) > 0 && !isDir(graph[0]) {
		in.problem("--slab", "%s is not a store, and all slabs are to read the same one; run heatwalk ingest first", graph[0])
	}
	if out != "" && (out == "-" || formatOf(out, formats) != format) {
		in.problem("--slab", "a part is a file in the form %s; write -o PART%s", format, format)
	}
}

// part says of an output which part it is, of what.
type part struct {
	Command string `json:"command"` // that made it
	Slab    int    `json:"slab"`
	Of      int    `json:"of"`

	// Parts of one whole have these in common.
	Store      string          `json:"store"` // its identity
	Parameters json.RawMessage `json:"parameters"`
	Labels     string          `json:"labels,omitempty"` // a sum over nodes and classes
	Nodes      string          `json:"nodes,omitempty"`  // a sum over the nodes of rows and columns

	Matrix *partShape `json:"matrix,omitempty"` // where the part of a matrix belongs
}

// partShape is where a part of a matrix belongs: the columns Lo ≤ j < Hi of each
// of Groups groups of Whole columns, or with Axis rows, the rows Lo ≤ i < Hi of
// Whole.
type partShape struct {
	Axis   string `json:"axis"`
	Lo     int    `json:"lo"`
	Hi     int    `json:"hi"`
	Whole  int    `json:"whole"`
	Groups int    `json:"groups"`
	Dtype  string `json:"dtype"`
}

const (
	byColumns = "columns"
	byRows    = "rows"
)

// newPart describes the output of a slab.
func newPart(command string, s slabFlag, g *openGraph, parameters any, l *nodefile.Labels) (*part, error) {
	p, err := json.Marshal(parameters)
	if err != nil {
		return nil, err
	}
	out := &part{Command: command, Slab: s.Index, Of: s.Of, Store: g.Manifest().Identity, Parameters: p}
	if l != nil {
		out.Labels = labelSum(l)
	}
	return out, nil
}

// labelSum returns a sum over labels: their nodes, classes and names.
func labelSum(l *nodefile.Labels) string {
	names, err := json.Marshal(l.Names)
	if err != nil {
		panic(err) // strings can be written
	}
	return sumOf(names, l.Row, l.Class)
}

// sumOf returns a sum over text and lists.
func sumOf(text []byte, lists ...[]int) string {
	h := sha256.New()
	h.Write(text)
	var b []byte
	for _, list := range lists {
		b = binary.LittleEndian.AppendUint64(b[:0], uint64(len(list)))
		for _, v := range list {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
			if len(b) > 64<<10 {
				h.Write(b)
				b = b[:0]
			}
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
