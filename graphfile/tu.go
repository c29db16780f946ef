package graphfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/textio"
)

// The files of the layout in which TU Dortmund publishes collections of graphs (Morris
// et al. 2020, TUDataset), each DS and one of these. The first two have to be there.
const (
	tuEdges         = "_A.txt"               // a line "u, v" for each edge, vertices from 1
	tuIndicator     = "_graph_indicator.txt" // the graph of each vertex, from 1
	tuClasses       = "_graph_labels.txt"    // the class of each graph
	tuLabels        = "_node_labels.txt"     // of each vertex
	tuEdgeLabels    = "_edge_labels.txt"     // of each line of DS_A.txt
	tuAttributes    = "_node_attributes.txt" // numbers of each vertex, with commas
	fixIndicator    = "number the graphs from 1, and give each vertex one line"
	perVertex       = "give each vertex one line"
	maxTUVertices   = math.MaxInt32 - 1
	missingTUOfPart = "a collection in the TU layout has DS_A.txt and DS_graph_indicator.txt, with one name for DS"
)

// FindTU returns what the names of the files of a collection begin with: of a directory
// that holds one, of DIR/DS, or of the file DIR/DS_A.txt. ok is false where there is none.
func FindTU(path string) (prefix string, ok bool) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		found, err := filepath.Glob(filepath.Join(escapeGlob(path), "*"+tuIndicator))
		if err != nil || len(found) != 1 {
			return "", false
		}
		path = found[0]
	}
	for _, ending := range []string{tuIndicator, tuEdges} {
		path = strings.TrimSuffix(path, ending)
	}
	_, err := os.Stat(path + tuIndicator)
	return path, err == nil
}

// escapeGlob returns a path that matches itself alone.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// TUBytes returns the bytes of the files of a collection, 0 for those there are not.
func TUBytes(prefix string) (bytes int64) {
	for _, ending := range []string{tuEdges, tuIndicator, tuClasses, tuLabels, tuEdgeLabels, tuAttributes} {
		if info, err := os.Stat(prefix + ending); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// ReadTU reads the collection whose files begin with prefix, plain or compressed. With
// directed the line "u, v" is an arc from u to v; else it joins them, whether or not the
// line "v, u" is there too. Attributes of edges and of graphs are not read.
//
// The error is an [*Error] with file and line for a vertex without a graph, a graph
// without a vertex, an edge between two graphs, lines too few or too many, an edge with
// two labels, or vertices with attributes of different count.
func ReadTU(ctx context.Context, prefix string, directed bool) (*Collection, error) {
	r := &tuReader{ctx: ctx, prefix: prefix, c: &Collection{Directed: directed}}
	for _, step := range []func() error{r.indicator, r.classes, r.labels, r.attributes, r.edges} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r.c, nil
}

// tuReader reads the files of a collection.
type tuReader struct {
	ctx    context.Context
	prefix string
	c      *Collection
	graph  []int32 // of each vertex, from 0
	at     []int32 // place of each vertex in its graph
	size   []int32 // of the graphs
}

// lines calls visit with the lines of a file that are not blank, and returns how many
// they are; those of a file that is missing are none.
func (r *tuReader) lines(ending string, visit func(line int64, text []byte) error) (n int, there bool, err error) {
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

// fault returns an error on a line of a file.
func (r *tuReader) fault(ending string, line int64, fix, format string, args ...any) error {
	return &Error{File: r.prefix + ending, Line: line, What: fmt.Sprintf(format, args...), Fix: fix}
}

// missing returns the error of a file that has to be there.
func (r *tuReader) missing(ending string) error {
	return &Error{File: r.prefix + ending, What: "is missing", Fix: missingTUOfPart, Err: fs.ErrNotExist}
}

// number reads a number from 1 to most.
func number(text []byte, most int) (int, bool) {
	n, err := strconv.ParseInt(string(bytes.Trim(text, blank)), 10, 64)
	return int(n), err == nil && n >= 1 && n <= int64(most)
}

// indicator reads the graph of each vertex.
func (r *tuReader) indicator() error {
	first := []int64{} // the line of the first vertex of each graph, 0 for none
	_, there, err := r.lines(tuIndicator, func(line int64, text []byte) error {
		g, ok := number(text, maxTUVertices)
		switch {
		case !ok:
			return r.fault(tuIndicator, line, fixIndicator, "%s is not the number of a graph", quote(text))
		case len(r.graph) == maxTUVertices:
			return r.fault(tuIndicator, line, "divide the collection", "more than %d vertices", maxTUVertices)
		case g > len(r.size)+1<<20:
			return r.fault(tuIndicator, line, fixIndicator, "graph %d comes after graph %d", g, len(r.size))
		}
		for len(r.size) < g {
			r.size, first = append(r.size, 0), append(first, 0)
		}
		if first[g-1] == 0 {
			first[g-1] = line
		}
		r.graph, r.at = append(r.graph, int32(g-1)), append(r.at, r.size[g-1])
		r.size[g-1]++
		return nil
	})
	switch {
	case err != nil:
		return err
	case !there:
		return r.missing(tuIndicator)
	case len(r.size) == 0:
		return r.fault(tuIndicator, 0, fixIndicator, "has no vertex")
	}
	for g, line := range first {
		if line == 0 {
			next := slices.IndexFunc(first[g:], func(l int64) bool { return l > 0 }) + g
			return r.fault(tuIndicator, first[next], fixIndicator, "graph %d comes, but graph %d has no vertex", next+1, g+1)
		}
	}
	r.c.Graphs, r.c.IDs = make([]Member, len(r.size)), make([]string, len(r.size))
	for g := range r.c.IDs {
		r.c.IDs[g] = strconv.Itoa(g + 1)
	}
	return nil
}

// count returns an error unless a file has so many lines.
func (r *tuReader) count(ending string, lines, want int, what, of string) error {
	if lines == want {
		return nil
	}
	return r.fault(ending, 0, "give each a line of its own", "has %s, but %s has %s", counted(lines, "line"), r.prefix+of, counted(want, what))
}

// classes reads the class of each graph.
func (r *tuReader) classes() error {
	var class []string
	n, there, err := r.lines(tuClasses, func(_ int64, text []byte) error {
		class = append(class, string(text))
		return nil
	})
	if err != nil || !there {
		return err
	}
	r.c.Class = class
	return r.count(tuClasses, n, len(r.size), "graph", tuIndicator)
}

// labels reads the label of each vertex.
func (r *tuReader) labels() error {
	var names words
	var label []int32
	n, there, err := r.lines(tuLabels, func(_ int64, text []byte) error {
		label = append(label, names.of(text))
		return nil
	})
	if err != nil || !there {
		return err
	}
	if err := r.count(tuLabels, n, len(r.graph), "vertex", tuIndicator); err != nil {
		return err
	}
	rank := names.sorted()
	r.c.Labels = names.text
	for g, size := range r.size {
		r.c.Graphs[g].Label = make([]int32, size)
	}
	for v, l := range label {
		r.c.Graphs[r.graph[v]].Label[r.at[v]] = rank[l]
	}
	return nil
}

// attributes reads the numbers of each vertex.
func (r *tuReader) attributes() error {
	v := 0
	n, there, err := r.lines(tuAttributes, func(line int64, text []byte) error {
		fields := bytes.Split(text, []byte{','})
		if v == 0 {
			r.c.Attributes = len(fields)
			for g, size := range r.size {
				r.c.Graphs[g].Attributes = make([]float64, int(size)*len(fields))
			}
		}
		if len(fields) != r.c.Attributes {
			return r.fault(tuAttributes, line, "give every vertex the same attributes", "%s, but the first vertex has %d", counted(len(fields), "attribute"), r.c.Attributes)
		}
		if v == len(r.graph) {
			return r.fault(tuAttributes, line, perVertex, "more lines than there are vertices (%d)", v)
		}
		place := r.c.Graphs[r.graph[v]].Attributes[int(r.at[v])*r.c.Attributes:]
		for j, f := range fields {
			x, err := strconv.ParseFloat(string(bytes.Trim(f, blank)), 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return r.fault(tuAttributes, line, "correct the line", "%s is not a finite number", quote(f))
			}
			place[j] = x
		}
		v++
		return nil
	})
	if err != nil || !there {
		return err
	}
	return r.count(tuAttributes, n, len(r.graph), "vertex", tuIndicator)
}

// edges reads the edges and their labels, and makes the graphs.
func (r *tuReader) edges() error {
	var names words
	var label []int32
	labels, labelled, err := r.lines(tuEdgeLabels, func(_ int64, text []byte) error {
		label = append(label, names.of(text))
		return nil
	})
	if err != nil {
		return err
	}
	var rank []int32
	if labelled {
		rank = names.sorted()
		r.c.EdgeLabels = names.text
	}
	edges, count := make([][]edge, len(r.size)), 0
	n, there, err := r.lines(tuEdges, func(line int64, text []byte) error {
		a, b, _ := bytes.Cut(text, []byte{','})
		u, fine := number(a, len(r.graph))
		v, also := number(b, len(r.graph))
		if !fine || !also {
			return r.fault(tuEdges, line, "write two vertices u, v from 1 to "+strconv.Itoa(len(r.graph)), "%s is not an edge", quote(text))
		}
		g, h := r.graph[u-1], r.graph[v-1]
		if g != h {
			return r.fault(tuEdges, line, "correct the line, or "+r.prefix+tuIndicator, "joins vertex %d of graph %d to vertex %d of graph %d", u, g+1, v, h+1)
		}
		e := edge{from: r.at[u-1], to: r.at[v-1], line: line}
		if count < len(label) {
			e.label = rank[label[count]]
		}
		count++
		edges[g] = append(edges[g], e)
		return nil
	})
	switch {
	case err != nil:
		return err
	case !there:
		return r.missing(tuEdges)
	case labelled && labels != n:
		return r.count(tuEdgeLabels, labels, n, "edge", tuEdges)
	}
	for g, size := range r.size {
		m, twice := newMember(int(size), edges[g], r.c.Directed, labelled)
		if twice != nil {
			return r.fault(tuEdges, max(twice[0].line, twice[1].line), "give the edge one label", "the edge of line %d again, with the label %s, before %s",
				min(twice[0].line, twice[1].line), quote(names.text[twice[1].label]), quote(names.text[twice[0].label]))
		}
		m.Label, m.Attributes = r.c.Graphs[g].Label, r.c.Graphs[g].Attributes
		r.c.Graphs[g], edges[g] = m, nil
	}
	return nil
}

// TUFiles returns the endings of the files that [WriteTU] writes of a collection.
func TUFiles(c *Collection) []string {
	files := []string{tuEdges, tuIndicator}
	if c.Class != nil {
		files = append(files, tuClasses)
	}
	if c.Labels != nil {
		files = append(files, tuLabels)
	}
	if c.EdgeLabels != nil {
		files = append(files, tuEdgeLabels)
	}
	if c.Attributes > 0 {
		files = append(files, tuAttributes)
	}
	return files
}

// WriteTU writes the file of a collection with one of the endings of [TUFiles]. Ids of
// graphs and vertices are not kept.
func WriteTU(w io.Writer, ending string, c *Collection) error {
	out := bufio.NewWriterSize(w, bufferBytes) // keeps the first error
	first := 1
	for g := range c.Graphs {
		m := &c.Graphs[g]
		if ending == tuClasses {
			fmt.Fprintln(out, c.Class[g])
			continue
		}
		for v := range m.Len() {
			switch ending {
			case tuIndicator:
				fmt.Fprintln(out, g+1)
			case tuLabels:
				fmt.Fprintln(out, c.Labels[m.Label[v]])
			case tuAttributes:
				for j, x := range m.Attributes[v*c.Attributes:][:c.Attributes] {
					if j > 0 {
						fmt.Fprint(out, ", ")
					}
					fmt.Fprint(out, x)
				}
				fmt.Fprintln(out)
			}
			for a, to := range m.Arcs(v) {
				switch ending {
				case tuEdges:
					fmt.Fprintf(out, "%d, %d\n", first+v, first+int(to))
				case tuEdgeLabels:
					fmt.Fprintln(out, c.EdgeLabels[m.EdgeLabel[int(m.Ptr[v])+a]])
				}
			}
		}
		first += m.Len()
	}
	return out.Flush()
}
