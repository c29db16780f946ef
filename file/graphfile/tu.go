package graphfile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Files of a collection of graphs in the layout of TU Dortmund (Morris et al. 2020, TUDataset) have the name DS and
// one of these endings. The first two files must exist.
const (
	tuEdges         = "_A.txt"               // a line "u, v" for each edge, vertices from 1
	tuIndicator     = "_graph_indicator.txt" // graph of each vertex, from 1
	tuClasses       = "_graph_labels.txt"    // class of each graph
	tuLabels        = "_node_labels.txt"     // label of each vertex
	tuEdgeLabels    = "_edge_labels.txt"     // label of each line of DS_A.txt
	fixIndicator    = "number the graphs from 1, and give each vertex one line"
	maxTUVertices   = math.MaxInt32 - 1
	missingTUOfPart = "a collection in the TU layout has DS_A.txt and DS_graph_indicator.txt, with one name for DS"
)

func findTU(path string) (prefix string, ok bool) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files, err := os.ReadDir(path)
		files = slices.DeleteFunc(files,
			func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), tuIndicator) })
		if err != nil || len(files) != 1 {
			return "", false
		}
		path = filepath.Join(path, files[0].Name())
	}
	for _, ending := range []string{tuIndicator, tuEdges} {
		path = strings.TrimSuffix(path, ending)
	}
	_, err := os.Stat(path + tuIndicator)
	return path, err == nil
}

// ErrNotTU is the error of [ReadTU] if the path is not a collection.
var ErrNotTU = errors.New("graphfile: no collection in the TU layout")

// ReadTU reads a collection in the TU layout, plain or compressed. path is the directory DIR with the files DS_*.txt,
// DIR/DS, or DIR/DS_A.txt. If directed is set, the line "u, v" is an arc from u to v. Otherwise it is an edge between
// u and v, with or without the line "v, u". Attributes of vertices, edges and graphs are not read.
//
// The error is an [*input.Error] if a vertex has no graph, a graph has no vertex, an edge is between two graphs, an
// edge has two labels, or a file has too few or too many lines.
func ReadTU(ctx context.Context, path string, directed bool) (*Collection, error) {
	prefix, ok := findTU(path)
	if !ok {
		return nil, ErrNotTU
	}
	r := &tuReader{ctx: ctx, prefix: prefix, c: &Collection{Directed: directed}}
	for _, step := range []func() error{r.vertices, r.classes, r.labels, r.readEdges} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r.c, nil
}

// CountTU returns the number of graphs, vertices and arcs of a collection in the TU layout, and the memory that
// [ReadTU] needs. It counts lines, and assumes that no edge has two lines.
func CountTU(ctx context.Context, path string) (s *Shape, reading int64, err error) {
	prefix, ok := findTU(path)
	if !ok {
		return nil, 0, ErrNotTU
	}
	r := &tuReader{ctx: ctx, prefix: prefix}
	s = &Shape{Classes: 2}
	s.Vertices, _, err = r.lines(tuIndicator, func(_ int64, text []byte) error {
		g, _ := number(text, maxTUVertices)
		s.Graphs = max(s.Graphs, g)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	lines, _, err := r.lines(tuEdges, func(int64, []byte) error { return nil })
	s.Arcs = int64(lines)
	return s, 36*s.Arcs + 32*int64(s.Vertices) + (memberBytes+32)*int64(s.Graphs), err
}

type tuReader struct {
	ctx    context.Context
	prefix string
	c      *Collection
	graph  []int32 // graph of each vertex, from 0
	place  []int32 // place of each vertex; the vertices of a graph are adjacent
	start  []int32 // place of the first vertex of each graph, then the number of all vertices
	size   []int32 // vertices of each graph
}

// lines calls visit with each line that is not blank, and returns their number. exists is false if the file is
// missing.
func (r *tuReader) lines(ending string,
	visit func(line int64, text []byte) error) (n int, exists bool, err error) {
	in, err := textio.Open(r.ctx, r.prefix+ending, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, true, err
	}
	defer in.Close()
	for line, err := range in.Lines() {
		if err != nil {
			return n, true, err
		}
		if text := bytes.Trim(line.Text, blank); len(text) > 0 {
			if err := visit(line.Number, text); err != nil {
				return n, true, err
			}
			n++
		}
	}
	return n, true, nil
}

func (r *tuReader) fault(ending string, line int64, fix, format string,
	args ...any) error {
	return textio.Fault(r.prefix+ending, line, fix, format, args...)
}

func number(text []byte, largest int) (int, bool) {
	n, err := strconv.ParseInt(string(bytes.Trim(text, blank)), 10, 64)
	return int(n), err == nil && n >= 1 && n <= int64(largest)
}

func (r *tuReader) vertices() error {
	first := []int64{} // line of the first vertex of each graph, 0: none
	n, _, err := r.lines(tuIndicator, func(line int64, text []byte) error {
		g, ok := number(text, maxTUVertices)
		switch {
		case !ok:
			return r.fault(tuIndicator, line, fixIndicator,
				"%s is not the number of a graph", words.Quoted(text))
		case g > len(r.size)+1<<20:
			return r.fault(tuIndicator, line, fixIndicator,
				"graph %d comes after graph %d", g, len(r.size))
		}
		for len(r.size) < g {
			r.size = append(r.size, 0)
			first = append(first, 0)
		}
		if first[g-1] == 0 {
			first[g-1] = line
		}
		r.size[g-1]++
		r.graph = append(r.graph, int32(g-1))
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(r.size) == 0:
		return r.fault(tuIndicator, 0, fixIndicator, "has no vertex")
	case n > maxTUVertices:
		return r.fault(tuIndicator, 0, "divide the collection",
			"more than %d vertices", maxTUVertices)
	}
	for g, line := range first {
		if line == 0 {
			next := slices.IndexFunc(first[g:],
				func(l int64) bool { return l > 0 }) + g
			return r.fault(tuIndicator, first[next], fixIndicator,
				"graph %d comes, but graph %d has no vertex", next+1, g+1)
		}
	}
	r.start = make([]int32, 1, len(r.size)+1)
	for g, size := range r.size {
		r.start = append(r.start, r.start[g]+size)
	}
	next := slices.Clone(r.start)
	r.place = make([]int32, len(r.graph))
	for v, g := range r.graph {
		r.place[v] = next[g]
		next[g]++
	}
	r.c.Graphs = make([]Member, len(r.size))
	r.c.IDs = make([]string, len(r.size))
	for g := range r.c.IDs {
		r.c.IDs[g] = strconv.Itoa(g + 1)
	}
	return nil
}

func (r *tuReader) count(ending string, lines, want int, what, owner string) error {
	if lines == want {
		return nil
	}
	return r.fault(ending, 0, "give each a line of its own",
		"has %s, but %s has %s", words.Counted(lines, "line"), r.prefix+owner,
		words.Counted(want, what))
}

// texts returns the distinct lines of a file as names, sorted by bytes, and for each line its index in names. If
// there is no file, both are nil.
func (r *tuReader) texts(ending string) (list []int32, names []string, err error) {
	var texts table.Dictionary
	list = []int32{}
	_, exists, err := r.lines(ending, func(_ int64, text []byte) error {
		code, _ := texts.Code(text)
		list = append(list, code)
		return nil
	})
	if err != nil || !exists {
		return nil, nil, err
	}
	names = slices.Sorted(slices.Values(texts.Values))
	for i, code := range list {
		place, _ := slices.BinarySearch(names, texts.Values[code])
		list[i] = int32(place)
	}
	return list, names, nil
}

func (r *tuReader) classes() error {
	class, names, err := r.texts(tuClasses)
	if err != nil || class == nil {
		return err
	}
	for _, c := range class {
		r.c.Class = append(r.c.Class, names[c])
	}
	return r.count(tuClasses, len(class), len(r.size), "graph", tuIndicator)
}

func (r *tuReader) labels() error {
	label, names, err := r.texts(tuLabels)
	if err != nil || label == nil {
		return err
	}
	if err := r.count(tuLabels, len(label), len(r.graph), "vertex", tuIndicator); err != nil {
		return err
	}
	r.c.Labels = names
	for g, size := range r.size {
		r.c.Graphs[g].Label = make([]int32, size)
	}
	for v, l := range label {
		g := r.graph[v]
		r.c.Graphs[g].Label[r.place[v]-r.start[g]] = l
	}
	return nil
}

func (r *tuReader) readEdges() error {
	label, names, err := r.texts(tuEdgeLabels)
	if err != nil {
		return err
	}
	r.c.EdgeLabels = names
	var edges [][2]int32
	n, exists, err := r.lines(tuEdges, func(line int64, text []byte) error {
		a, b, _ := bytes.Cut(text, []byte{','})
		u, fine := number(a, len(r.graph))
		v, also := number(b, len(r.graph))
		if !fine || !also {
			return r.fault(tuEdges, line,
				"write two vertices u, v from 1 to "+strconv.Itoa(len(r.graph)),
				"%s is not an edge", words.Quoted(text))
		}
		if g, h := r.graph[u-1], r.graph[v-1]; g != h {
			return r.fault(tuEdges, line,
				"correct the line, or "+r.prefix+tuIndicator,
				"joins vertex %d of graph %d to vertex %d of graph %d", u,
				g+1, v, h+1)
		}
		edges = append(edges, [2]int32{r.place[u-1], r.place[v-1]})
		return nil
	})
	switch {
	case err != nil:
		return err
	case !exists:
		return &textio.Error{File: r.prefix + tuEdges, Msg: "is missing",
			Fix: missingTUOfPart, Err: fs.ErrNotExist}
	case n > math.MaxInt32:
		return r.fault(tuEdges, 0, "divide the collection", "more than %d edges", math.MaxInt32)
	case label != nil && len(label) != n:
		return r.count(tuEdgeLabels, len(label), n, "edge", tuEdges)
	}
	first, arcs := adjacency(len(r.graph), edges, r.c.Directed)
	r.graph = nil
	r.place = nil
	edges = nil
	for g, lo := range r.start[:len(r.size)] {
		m, twice := newMember(first[lo:r.start[g+1]+1], arcs, lo, label)
		if twice != nil {
			return r.fault(tuEdges, 0, "give each edge one label",
				"an edge has the labels %s and %s",
				words.Quoted(names[label[twice[0].edge]]),
				words.Quoted(names[label[twice[1].edge]]))
		}
		m.Label = r.c.Graphs[g].Label
		r.c.Graphs[g] = m
	}
	return nil
}
