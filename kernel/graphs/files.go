package graphs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ReadFiles reads a collection of graphs of which each has a file of its own, of any
// format that [ingest.Run] reads. The id of a graph is the name of its file without
// endings, and no two have the same. Vertices have ids and no labels, see [Relabel];
// weights of edges are not kept. Stores are made in the directory temp, one at a time.
func ReadFiles(ctx context.Context, paths []string, temp string, config ingest.Config) (*graphfile.Collection, error) {
	c := &graphfile.Collection{Directed: config.Directed}
	config.Undirected, config.SelfLoops = !config.Directed, ingest.KeepLoops
	seen := map[string]string{}
	for _, path := range paths {
		id := filepath.Base(path)
		for range 2 { // of the packing, and of the format
			if ending := filepath.Ext(id); len(ending) < len(id) {
				id = strings.TrimSuffix(id, ending)
			}
		}
		if other := seen[id]; other != "" {
			return nil, &GraphError{id, fmt.Sprintf("is in %s and in %s; name the files differently", other, path)}
		}
		seen[id] = path
		m, err := readFile(ctx, path, filepath.Join(temp, "graph"), &config)
		if err != nil {
			return nil, err
		}
		c.IDs, c.Graphs = append(c.IDs, id), append(c.Graphs, m)
	}
	return c, nil
}

// readFile reads a graph by way of a store, which it removes.
func readFile(ctx context.Context, path, store string, config *ingest.Config) (m graphfile.Member, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(store)) }()
	if _, err = ingest.Run(ctx, store, []string{path}, config); err != nil {
		return m, err
	}
	s, err := shard.Open(ctx, store, &shard.Options{Stream: true, Workers: 1})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	n, _ := s.Dims()
	m.Ptr = make([]int32, n+1)
	for v := range n {
		m.ID = append(m.ID, s.Nodes().ID(v))
	}
	arcs := make([][]int32, n)
	err = s.Sweep(ctx, 1, func(_ int, p sparse.Panel) error {
		for i := range p.Hi - p.Lo {
			col, _ := p.Row(i)
			for _, w := range col {
				arcs[p.Lo+i] = append(arcs[p.Lo+i], int32(w))
			}
		}
		return nil
	})
	for v, to := range arcs {
		m.To = append(m.To, to...)
		m.Ptr[v+1] = int32(len(m.To))
	}
	return m, err
}

// Relabel gives the vertices of a collection other labels: their "degree" or their "ids",
// or takes them away for "none".
func Relabel(c *graphfile.Collection, by string) error {
	c.Labels = nil
	number := map[string]int32{}
	each := func(visit func(m *graphfile.Member, v int, text string)) {
		for i := range c.Graphs {
			m := &c.Graphs[i]
			for v := range m.Len() {
				if by == "ids" {
					visit(m, v, m.ID[v])
				} else {
					visit(m, v, strconv.Itoa(len(m.Arcs(v))))
				}
			}
		}
	}
	for i := range c.Graphs {
		m := &c.Graphs[i]
		if by == "ids" && m.ID == nil {
			return &GraphError{c.IDs[i], "its vertices have no ids; label them by degree"}
		}
		if m.Label = nil; by != "none" {
			m.Label = make([]int32, m.Len())
		}
	}
	if by == "none" {
		return nil
	}
	each(func(_ *graphfile.Member, _ int, text string) { number[text] = 0 })
	c.Labels = slices.Sorted(maps.Keys(number))
	for i, text := range c.Labels {
		number[text] = int32(i)
	}
	each(func(m *graphfile.Member, v int, text string) { m.Label[v] = number[text] })
	return nil
}

// Relabelled bounds the shape of a collection that has been given other labels.
func Relabelled(s graphfile.Shape, by string) graphfile.Shape {
	s.Labels = 0
	switch by {
	case "degree": // of which two cost more arcs than one
		s.Labels = int(min(int64(s.Largest)+1, 2+int64(math.Sqrt(2*float64(s.Arcs)))))
	case "ids":
		s.Labels = s.Vertices
	}
	s.Text += 80 * int64(s.Labels) // and a table of them
	s.Alike, s.Pairs = int64(s.Largest)*int64(s.Largest), 0
	labels := min(int64(s.Largest), int64(max(1, s.Labels)))
	s.Pairs = int64(s.Graphs) * labels * labels
	return s
}

// ReadMeasure reads a line element<TAB>number ≥ 0 for each of the given elements; others
// are passed over.
func ReadMeasure(ctx context.Context, path string, elements []string) ([]float64, error) {
	in, err := textio.Open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	measure, known := make([]float64, len(elements)), make([]bool, len(elements))
	for line, err := range in.Lines() {
		if err != nil {
			return nil, err
		}
		text := strings.TrimSpace(string(line.Text))
		if text == "" {
			continue
		}
		cut := strings.LastIndexAny(text, "\t ")
		x, wrong := strconv.ParseFloat(text[cut+1:], 64)
		if cut < 0 || wrong != nil || !(x >= 0) || x > 1e300 {
			return nil, &graphfile.Error{File: path, Line: line.Number, What: fmt.Sprintf("%q is not an element with its measure", text), Fix: "write an element, a tab and a number ≥ 0"}
		}
		at, found := slices.BinarySearch(elements, strings.TrimSpace(text[:cut]))
		if found && known[at] {
			return nil, &graphfile.Error{File: path, Line: line.Number, What: fmt.Sprintf("%q is measured twice", elements[at]), Fix: "keep one line"}
		}
		if found {
			measure[at], known[at] = x, true
		}
	}
	if at := slices.Index(known, false); at >= 0 {
		return nil, &graphfile.Error{File: path, What: fmt.Sprintf("has no line for %q", elements[at]), Fix: "measure every element of the graphs"}
	}
	return measure, nil
}
