package graphfile

import (
	"bufio"
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/sparse/shard"
)

var arrows = &Format{
	Name: "arrows", Title: "arrows", Endings: []string{".arrows"}, Text: true, EdgesOnly: true, Sweeps: 1,
	Begins: func(head []byte) bool { return bytes.HasPrefix(head, []byte("arrows\n")) },
	Read: readBatches(func(s *batchWriter) (*Summary, error) {
		text := bufio.NewScanner(s.Text)
		for text.Scan() {
			if u, v, ok := strings.Cut(text.Text(), " -> "); ok {
				if err := s.texts([]byte(u), []byte(v), 1); err != nil {
					return nil, err
				}
			}
		}
		return &Summary{Direction: Directed}, text.Err()
	}),
	write: func(ctx context.Context, out *bufio.Writer, g *graph) (int, error) {
		_, _ = out.WriteString("arrows\n")
		return g.eachEdge(ctx, func(source, target []byte, _ float64) error {
			_, err := out.WriteString(string(source) + " -> " + string(target) + "\n")
			return err
		})
	},
}

func TestDeclaredFormat(t *testing.T) {
	before := Formats
	Formats = slices.Concat(Formats, []*Format{arrows})
	t.Cleanup(func() { Formats = before })

	const text = "arrows\na -> b\nc -> a\n"
	for name, head := range map[string]string{"x": text, "x.arrows.gz": ""} {
		if got := Recognize(name, []byte(head)); got != arrows {
			t.Errorf("%s %q: recognized %v", name, head, got)
		}
	}
	c, err := readContent("x.arrows", []byte(text), nil)
	if want := []string{"a b 1", "c a 1"}; err != nil || !slices.Equal(c.edges, want) || c.graph.Direction != Directed {
		t.Errorf("%v, %v", c, err)
	}

	dir := filepath.Join(t.TempDir(), "g")
	w, err := shard.Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append([]uint32{1}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Append([]uint32{0}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if w.Nodes, err = shard.StringNodes(slices.Values([]string{"a", "b"})); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out bytes.Buffer
	if without, err := Write(t.Context(), arrows, &out, s, nil); err != nil || without != 0 || out.String() != "arrows\na -> b\n" {
		t.Errorf("wrote %q, %d without an edge, %v", out.String(), without, err)
	}
	if _, bytes := Bytes(arrows, s, nil); bytes < int64(out.Len()) {
		t.Errorf("%d bytes for %q", bytes, out.String())
	}
}

func TestFormatsAreWhole(t *testing.T) {
	names, endings := map[string]bool{}, map[string]bool{}
	for _, f := range Formats {
		if f.Title == "" || len(f.Endings) == 0 || f.Read == nil && f.write == nil {
			t.Errorf("%s is not declared in full", f.Title)
		}
		if written := f.write != nil; written != (f.Name != "") || written != (f.Sweeps > 0) {
			t.Errorf("%s: one part of what writes it is missing", f.Title)
		}
		if names[f.Name] && f.Name != "" {
			t.Errorf("%s is the name of two formats", f.Name)
		}
		names[f.Name] = true
		for _, ending := range f.Endings {
			if endings[ending] {
				t.Errorf("%s is the ending of two formats", ending)
			}
			endings[ending] = true
		}
	}
}
