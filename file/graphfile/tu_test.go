package graphfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/heatwalk/heatwalk/file/nodefile"
)

func tuFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "D")
	for ending, text := range files {
		if err := os.WriteFile(prefix+ending, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return prefix
}

// small is a path a-b-a with edges 1 and 2 and an isolated vertex; edges are listed at both ends.
func small() map[string]string {
	return map[string]string{
		tuEdges: "1, 2\n2, 1\n2,3\n3, 2\n", tuEdgeLabels: "1\n1\n2\n2\n", tuIndicator: "1\n1\n1\n2\n",
		tuClasses: "-1\n1\n", tuLabels: "a\nb\na\nc\n",
	}
}

func readTU(ctx context.Context, prefix string, directed bool) (*Collection, error) {
	return ReadTU(ctx, prefix, directed)
}

func TestReadTU(t *testing.T) {
	if _, err := ReadTU(t.Context(), t.TempDir(), false); !errors.Is(err, ErrNotTU) {
		t.Errorf("an empty directory: %v", err)
	}
	prefix := tuFiles(t, small())
	for _, path := range []string{prefix, prefix + "_A.txt", filepath.Dir(prefix)} {
		if got, ok := findTU(path); !ok || got != prefix {
			t.Errorf("findTU(%s): %s, %v", path, got, ok)
		}
	}
	c, err := readTU(t.Context(), prefix, false)
	if err != nil {
		t.Fatal(err)
	}
	want := &Collection{
		IDs: []string{"1", "2"}, Class: []string{"-1", "1"}, Labels: []string{"a", "b", "c"}, EdgeLabels: []string{"1", "2"},
		Graphs: []Member{
			{Ptr: []int32{0, 1, 3, 4}, To: []int32{1, 0, 2, 1}, EdgeLabel: []int32{0, 0, 1, 1}, Label: []int32{0, 1, 0}},
			{Ptr: []int32{0, 0}, Label: []int32{2}},
		},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestReadTUDirected(t *testing.T) {
	c, err := readTU(t.Context(), tuFiles(t, map[string]string{tuEdges: "1,2\n2,2\n", tuIndicator: "1\n1\n"}), true)
	if err != nil {
		t.Fatal(err)
	}
	want := &Collection{IDs: []string{"1"}, Directed: true, Graphs: []Member{{Ptr: []int32{0, 1, 2}, To: []int32{1, 1}}}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenTU(t *testing.T) {
	for _, b := range []struct{ ending, text, want string }{
		{tuIndicator, "1\n1\nx\n2\n", `_graph_indicator.txt:3: "x" is not the number of a graph; number the graphs from 1, and give each vertex one line`},
		{tuIndicator, "1\n0\n1\n2\n", `_graph_indicator.txt:2: "0" is not the number of a graph; number the graphs from 1, and give each vertex one line`},
		{tuIndicator, "1\n1\n\n1\n3\n", "_graph_indicator.txt:5: graph 3 comes, but graph 2 has no vertex; number the graphs from 1, and give each vertex one line"},
		{tuIndicator, "1\n9999999999\n", `_graph_indicator.txt:2: "9999999999" is not the number of a graph; number the graphs from 1, and give each vertex one line`},
		{tuIndicator, "1\n2000000000\n", "_graph_indicator.txt:2: graph 2000000000 comes after graph 1; number the graphs from 1, and give each vertex one line"},
		{tuIndicator, "\n", "_graph_indicator.txt: has no vertex; number the graphs from 1, and give each vertex one line"},
		{tuEdges, "", "_A.txt: is missing; a collection in the TU layout has DS_A.txt and DS_graph_indicator.txt, with one name for DS"},
		{tuEdges, "1, 2\n1\n1,2\n1,2\n", `_A.txt:2: "1" is not an edge; write two vertices u, v from 1 to 4`},
		{tuEdges, "1, 5\n", `_A.txt:1: "1, 5" is not an edge; write two vertices u, v from 1 to 4`},
		{tuEdges, "1, 2\n3, 4\n", "_A.txt:2: joins vertex 3 of graph 1 to vertex 4 of graph 2; correct the line, or D_graph_indicator.txt"},
		{tuEdgeLabels, "1\n2\n1\n1\n", `_A.txt: an edge has the labels "1" and "2"; give each edge one label`},
		{tuEdgeLabels, "1\n1\n1\n", "_edge_labels.txt: has 3 lines, but D_A.txt has 4 edges; give each a line of its own"},
		{tuLabels, "a\n", "_node_labels.txt: has 1 line, but D_graph_indicator.txt has 4 vertices; give each a line of its own"},
		{tuClasses, "1\n1\n2\n", "_graph_labels.txt: has 3 lines, but D_graph_indicator.txt has 2 graphs; give each a line of its own"},
	} {
		files := small()
		files[b.ending] = b.text
		if b.text == "" {
			delete(files, b.ending)
		}
		prefix := tuFiles(t, files)
		_, err := readTU(t.Context(), prefix, false)
		var broken *nodefile.ParseError
		if !errors.As(err, &broken) {
			t.Errorf("%s %q: %v", b.ending, b.text, err)
			continue
		}
		if got := strings.ReplaceAll(broken.Error(), prefix, "D"); got != "D"+b.want {
			t.Errorf("%q:\n%s\nwant\nD%s", b.text, got, b.want)
		}
	}
}
