package graphfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

type content struct {
	graph *Summary
	nodes []string
	edges []string
	sum   float64 // sum of weights
}

// readContent reads a file, and again as a stream.
func readContent(name string, data []byte, o *Input) (*content, error) {
	f := Recognize(name, data[:min(len(data), 4096)])
	if f == EdgeList {
		return nil, fmt.Errorf("%s is not recognized", name)
	}
	c := &content{}
	var in Input
	if o != nil {
		in = *o
	}
	streamed := in
	streamed.Name, streamed.Text = name, bytes.NewReader(data)
	in.Name, in.Text, in.File, in.Size = name, bytes.NewReader(data), bytes.NewReader(data), int64(len(data))
	var err error
	c.graph, err = Read(f, &in, c.add)
	stream := &content{}
	graph, streamErr := Read(f, &streamed, stream.add)
	switch {
	case (err == nil) != (streamErr == nil):
		return nil, fmt.Errorf("from a file: %v; from a stream: %v", err, streamErr)
	case err == nil && (fmt.Sprint(graph) != fmt.Sprint(c.graph) || strings.Join(stream.edges, ";") != strings.Join(c.edges, ";")):
		return nil, fmt.Errorf("a stream is read differently: %v, %v", graph, c.graph)
	}
	return c, err
}

func (b *Batch) text(i int) []byte {
	start := 0
	if i > 0 {
		start = b.End[i-1]
	}
	return b.Text[start:b.End[i]]
}

func (c *content) add(b *Batch) error {
	id := func(i int) string {
		if len(b.End) > 0 {
			return string(b.text(i))
		}
		return fmt.Sprint(b.Number[i])
	}
	if len(b.Weight) > 0 && len(b.Weight) != b.len()/2 {
		return fmt.Errorf("%d weights for %d ids", len(b.Weight), b.len())
	}
	for i := 0; i < b.len(); i++ {
		if !b.Edges {
			c.nodes = append(c.nodes, id(i))
			continue
		}
		w := 1.0
		if len(b.Weight) > 0 {
			w = b.Weight[i/2]
		}
		c.sum += w
		c.edges = append(c.edges, fmt.Sprintf("%s %s %g", id(i), id(i+1), w))
		i++
	}
	return nil
}

func sample(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// 77 characters, 254 pairs, 820 common chapters.
func TestLesMiserables(t *testing.T) {
	c, err := readContent("lesmis.graphml", sample(t, "lesmis.graphml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.edges) != 254 || c.sum != 820 || c.graph.Direction != Undirected {
		t.Errorf("%d edges of weight %g, direction %v", len(c.edges), c.sum, c.graph.Direction)
	}
	if len(c.nodes) != 77 || c.nodes[0] != "Myriel" || c.nodes[76] != "MmeHucheloup" {
		t.Errorf("nodes %q", c.nodes)
	}
	var want []string // of the matrix, which numbers the nodes
	for line := range strings.Lines(string(sample(t, "lesmis.mtx"))) {
		if f := strings.Fields(line); len(want) > 0 || f[0] == "77" {
			want = append(want, strings.Join(f, " "))
		}
	}
	number := map[string]string{}
	for i, name := range c.nodes {
		number[name] = strconv.Itoa(i + 1)
	}
	got := []string{"77 77 254"}
	for _, e := range c.edges {
		f := strings.Fields(e)
		u, v := number[f[0]], number[f[1]]
		if row, column := len(u), len(v); row < column || row == column && u < v {
			u, v = v, u
		}
		got = append(got, u+" "+v+" "+f[2])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("edges %q, want %q", got, want)
	}
}

// SciPy 1.10 saved the matrices.
func TestSciPy(t *testing.T) {
	c, err := readContent("gnnbench-cora.npz", sample(t, "gnnbench-cora.npz"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.graph.Nodes != 2708 || len(c.edges) != 5429 || c.graph.Direction != BySymmetry {
		t.Errorf("%+v, %d edges", c.graph, len(c.edges))
	}
	want := []string{"0 1 1.5", "0 2 0.25", "1 0 1.5", "2 0 0.25", "2 3 2", "3 2 2"}
	for _, name := range []string{"small-coo.npz", "small-csr.npz", "small-csc.npz", "small-bool.npz"} {
		c, err := readContent(name, sample(t, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(c.edges)
		want := want
		if name == "small-bool.npz" {
			want = []string{"0 1 1", "0 2 1", "1 0 1", "2 0 1", "2 3 1", "3 2 1"}
		}
		if strings.Join(c.edges, ";") != strings.Join(want, ";") || c.graph.Nodes != 5 {
			t.Errorf("%s: %q", name, c.edges)
		}
	}
}
