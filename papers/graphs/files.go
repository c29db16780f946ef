package graphs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ReadOptions are the settings of [Read]; nil means the zero value.
type ReadOptions struct {
	Directed bool // edges have a direction

	// Vertices is the source of vertex labels: "labels", "degree", "ids" or "none". "" means the labels in the collection,
	// or "degree" if the collection has no labels.
	Vertices string

	Memory  int64 // limit of memory for reading graph files, in bytes; 0: no limit
	Workers int   // goroutines that read graph files; 0: one for each processor

	// Temp returns a directory for temporary stores of graph files, of which one exists at a time; nil: the system's directory.
	Temp func() (string, error)
}

// Read reads a collection of graphs: in the TU layout ([graphfile.ReadTU]), or a directory with a
// file for each graph in any format that [ingest.Run] reads. In a directory the id of a graph is
// the name of its file without endings, which must be unique. Vertices then have ids and no labels,
// and weights of edges are ignored. Errors are [*nodefile.ParseError], [*GraphError],
// [*param.ParameterError] for vertices, and the errors of ingest.
func Read(ctx context.Context, path string,
	o *ReadOptions) (*graphfile.Collection, error) {
	if o == nil {
		o = new(ReadOptions)
	}
	c, err := readAny(ctx, path, o)
	if err != nil {
		return nil, err
	}
	if o.Vertices == "labels" && c.Labels == nil {
		return nil, param.Refuse("", "vertices",
			"the vertices of %s have no labels; give degree, ids or none", path)
	}
	source := o.Vertices
	if source == "" && c.Labels == nil {
		source = "degree"
	}
	if source != "" && source != "labels" {
		err = relabel(c, source)
	}
	return c, err
}

func readAny(ctx context.Context, path string,
	o *ReadOptions) (*graphfile.Collection, error) {
	c, err := graphfile.ReadTU(ctx, path, o.Directed)
	if !errors.Is(err, graphfile.ErrNotTU) {
		return c, err
	}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, input.Fault(path, 0,
			"give DIR/DS of files DS_A.txt and DS_graph_indicator.txt, or a directory with a graph in each file",
			"is no collection of graphs")
	}
	list, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range list {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") &&
			!strings.HasSuffix(e.Name(), ".run.json") {
			paths = append(paths, filepath.Join(path, e.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, input.Fault(path, 0,
			"give a collection in the TU layout, or a directory with a graph in each file", "holds no file")
	}
	temp := os.TempDir()
	if o.Temp != nil {
		if temp, err = o.Temp(); err != nil {
			return nil, err
		}
	}
	return readFiles(ctx, paths, temp,
		ingest.Config{Directed: o.Directed, Memory: o.Memory, Workers: o.Workers})
}

func readFiles(ctx context.Context, paths []string, temp string,
	config ingest.Config) (*graphfile.Collection, error) {
	c := &graphfile.Collection{Directed: config.Directed}
	config.Undirected = !config.Directed
	config.KeepLoops = true
	seen := map[string]string{}
	for _, path := range paths {
		id := filepath.Base(path)
		for range 2 { // endings of compression and format
			if ending := filepath.Ext(id); len(ending) < len(id) {
				id = strings.TrimSuffix(id, ending)
			}
		}
		if file := seen[id]; file != "" {
			return nil, &GraphError{id,
				fmt.Sprintf("is in %s and in %s; name the files differently",
					file, path)}
		}
		seen[id] = path
		m, err := readFile(ctx, path, filepath.Join(temp, "graph"), &config)
		if err != nil {
			return nil, err
		}
		c.IDs = append(c.IDs, id)
		c.Graphs = append(c.Graphs, m)
	}
	return c, nil
}

func readFile(ctx context.Context, path, store string,
	config *ingest.Config) (m graphfile.Member, err error) {
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
		m.ID = append(m.ID, s.Nodes.ID(v))
	}
	err = sparse.EachRow(ctx, s, 1, func(_, v int, col []uint32, _ []float64) error {
		for _, w := range col {
			m.To = append(m.To, int32(w))
		}
		m.Ptr[v+1] = int32(len(m.To))
		return nil
	})
	return m, err
}

func arcsOf(m *graphfile.Member, v int) []int32 {
	return m.To[m.Ptr[v]:m.Ptr[v+1]]
}

// relabel replaces the labels of vertices by their "degree" or their "ids", or removes them for "none".
func relabel(c *graphfile.Collection, source string) error {
	c.Labels = nil
	number := map[string]int32{}
	visitAll := func(visit func(m *graphfile.Member, v int, text string)) {
		for i := range c.Graphs {
			m := &c.Graphs[i]
			for v := range m.Len() {
				if source == "ids" {
					visit(m, v, m.ID[v])
				} else {
					visit(m, v, strconv.Itoa(len(arcsOf(m, v))))
				}
			}
		}
	}
	for i := range c.Graphs {
		m := &c.Graphs[i]
		if source == "ids" && m.ID == nil {
			return &GraphError{c.IDs[i],
				"its vertices have no ids; label them by degree"}
		}
		m.Label = nil
		if source != "none" {
			m.Label = make([]int32, m.Len())
		}
	}
	if source == "none" {
		return nil
	}
	visitAll(func(_ *graphfile.Member, _ int, text string) { number[text] = 0 })
	c.Labels = slices.Sorted(maps.Keys(number))
	for i, text := range c.Labels {
		number[text] = int32(i)
	}
	visitAll(func(m *graphfile.Member, v int, text string) { m.Label[v] = number[text] })
	return nil
}
