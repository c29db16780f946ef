package tablefile

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/heatwalk/heatwalk/file/nodefile"
	_ "github.com/heatwalk/heatwalk/file/parquetfile"
)

var (
	classes     = []string{"arts", "label", "sports"}
	predictions = []Prediction{
		{Node: "u1", Label: "sports", Reached: true, Known: true, Scores: []float64{0.25, 0, 0.75}},
		{Node: "u \"2\"", Label: "arts", Reached: true, Scores: []float64{1. / 3, 1. / 3, 1. / 3}},
		{Node: "u3"},
	}
)

func writeMany(w io.Writer, ending string, c Columns, n int) error {
	return WritePredictions(context.Background(), w, ending, c, n, func(i int, p *Prediction) {
		*p = predictions[i%len(predictions)]
	})
}

func writeAll(t *testing.T, w io.Writer, ending string, c Columns) {
	t.Helper()
	if err := writeMany(w, ending, c, len(predictions)); err != nil {
		t.Fatal(err)
	}
}

func TestTSV(t *testing.T) {
	for _, c := range []struct {
		top  int
		want string
	}{
		{0, "node\tlabel\treached\tknown\tprobability\tarts\tclass:label\tsports\n" +
			"u1\tsports\ttrue\ttrue\t0.75\t0.25\t0\t0.75\n" +
			"\"u \"\"2\"\"\"\tarts\ttrue\tfalse\t0.333333\t0.333333\t0.333333\t0.333333\n" +
			"u3\t\tfalse\tfalse\t\t\t\t\n"},
		{2, "node\tlabel\treached\tknown\tprobability\tlabel1\tscore1\tlabel2\tscore2\n" +
			"u1\tsports\ttrue\ttrue\t0.75\tsports\t0.75\tarts\t0.25\n" +
			"\"u \"\"2\"\"\"\tarts\ttrue\tfalse\t0.333333\tarts\t0.333333\tlabel\t0.333333\n" +
			"u3\t\tfalse\tfalse\t\t\t\t\t\n"},
		{-1, "node\tlabel\treached\tknown\tprobability\nu1\tsports\ttrue\ttrue\t0.75\n\"u \"\"2\"\"\"\tarts\ttrue\tfalse\t0.333333\nu3\t\tfalse\tfalse\t\n"},
	} {
		var got bytes.Buffer
		writeAll(t, &got, ".tsv", Columns{Classes: classes, Top: c.top})
		if diff := cmp.Diff(c.want, got.String()); diff != "" {
			t.Errorf("top %d (-want +got):\n%s", c.top, diff)
		}
	}
}

// pandas, R, DuckDB and this module read back every id.
func TestQuotedIDs(t *testing.T) {
	ids := []string{`"open`, `"Bob" Smith`, `a "b"`, `"whole"`, `"`, `""`, "a b", "it's", "a,b", "a;b", "#x", " a", `\`, "plain"}
	for ending, comma := range map[string]rune{".tsv": '\t', ".csv": ','} {
		var file bytes.Buffer
		err := WritePredictions(t.Context(), &file, ending, Columns{Classes: []string{`"c`, "d"}}, len(ids), func(i int, p *Prediction) {
			*p = Prediction{Node: ids[i], Label: `"c`, Scores: []float64{1, 0}}
		})
		if err != nil {
			t.Fatal(err)
		}
		r := csv.NewReader(bytes.NewReader(file.Bytes()))
		r.Comma = comma
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if rows[i+1][0] != id || rows[i+1][1] != `"c` {
				t.Errorf("%s: %q came back as %q", ending, id, rows[i+1])
			}
		}
		nodes := nodesOf(t, ids...)
		l, err := nodefile.ReadLabels(t.Context(), write(t, "p"+ending, file.Bytes()), nodes, &nodefile.LabelConfig{Fields: []string{"node", "label"}})
		if err != nil || len(l.Row) != len(ids) || !slices.Equal(l.Names, []string{`"c`}) {
			t.Errorf("%s: %+v, %v", ending, l, err)
		}
		var list bytes.Buffer
		if err := WriteIDs(&list, AxisOf(ids)); err != nil {
			t.Fatal(err)
		}
		rowList, err := nodefile.ReadIDs(t.Context(), write(t, "p.ids", list.Bytes()), nodes, nil)
		if err != nil || len(rowList) != len(ids) || !slices.IsSorted(rowList) {
			t.Errorf("ids: %v, %v", rowList, err)
		}
	}
}

func TestJSONL(t *testing.T) {
	var got bytes.Buffer
	writeAll(t, &got, ".jsonl", Columns{Classes: classes})
	var decoded []map[string]any
	for line := range strings.Lines(got.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		decoded = append(decoded, m)
	}
	want := []map[string]any{
		{"node": "u1", "label": "sports", "reached": true, "known": true, "probability": 0.75, "scores": map[string]any{"arts": 0.25, "label": 0.0, "sports": 0.75}},
		{"node": `u "2"`, "label": "arts", "reached": true, "known": false, "probability": 0.333333, "scores": map[string]any{"arts": 0.333333, "label": 0.333333, "sports": 0.333333}},
		{"node": "u3", "label": nil, "reached": false, "known": false, "probability": nil, "scores": nil},
	}
	if diff := cmp.Diff(want, decoded); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got.Reset()
	writeAll(t, &got, ".jsonl", Columns{Classes: classes, Top: 1})
	first, _, _ := strings.Cut(got.String(), "\n")
	if want := `{"node":"u1","label":"sports","reached":true,"known":true,"probability":0.75,"scores":{"sports":0.75}}`; first != want {
		t.Errorf("got %s, want %s", first, want)
	}
	got.Reset()
	writeAll(t, &got, ".jsonl", Columns{Classes: classes, Top: -1})
	first, _, _ = strings.Cut(got.String(), "\n")
	if want := `{"node":"u1","label":"sports","reached":true,"known":true,"probability":0.75}`; first != want {
		t.Errorf("got %s, want %s", first, want)
	}
}

func TestParquet(t *testing.T) {
	var file bytes.Buffer
	writeAll(t, &file, ".parquet", Columns{Classes: classes})
	type row struct {
		Node    string   `parquet:"node"`
		Label   *string  `parquet:"label,optional"`
		Reached bool     `parquet:"reached"`
		Known   bool     `parquet:"known"`
		Sure    *float64 `parquet:"probability,optional"`
		Arts    *float64 `parquet:"arts,optional"`
		Class   *float64 `parquet:"class:label,optional"`
		Sports  *float64 `parquet:"sports,optional"`
	}
	got, err := parquet.Read[row](bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(predictions) {
		t.Fatalf("%d rows, want %d", len(got), len(predictions))
	}
	for i, g := range got {
		want := predictions[i]
		if g.Node != want.Node || g.Reached != want.Reached || g.Known != want.Known || (g.Sure == nil) != (want.Scores == nil) || (g.Label == nil) != (want.Label == "") ||
			g.Label != nil && *g.Label != want.Label {
			t.Errorf("row %d: got %+v, want %+v", i, g, want)
		}
		for c, s := range []*float64{g.Arts, g.Class, g.Sports} {
			if (s == nil) != (want.Scores == nil) || s != nil && *s != want.Scores[c] {
				t.Errorf("row %d, class %d: got %v, want %v", i, c, s, want.Scores)
			}
		}
	}
	open, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range open.Schema().Fields() {
		names = append(names, f.Name())
	}
	if diff := cmp.Diff([]string{"node", "label", "reached", "known", "probability", "arts", "class:label", "sports"}, names); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

func TestParquetTopAndManyRows(t *testing.T) {
	const n = groupRows + 1000
	var file bytes.Buffer
	if err := writeMany(&file, ".parquet", Columns{Classes: classes, Top: 1}, n); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Node   string   `parquet:"node"`
		Label1 *string  `parquet:"label1,optional"`
		Score1 *float64 `parquet:"score1,optional"`
	}
	got, err := parquet.Read[row](bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != n {
		t.Fatalf("%d rows, want %d", len(got), n)
	}
	for i, g := range got {
		want := predictions[i%len(predictions)]
		if g.Node != want.Node || (g.Score1 == nil) != (want.Scores == nil) {
			t.Fatalf("row %d: got %+v, want %+v", i, g, want)
		}
		if i%3 == 0 && (*g.Label1 != "sports" || *g.Score1 != 0.75) {
			t.Fatalf("row %d: got %s %v", i, *g.Label1, *g.Score1)
		}
	}
	open, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if groups := len(open.RowGroups()); groups != 2 {
		t.Errorf("%d row groups, want 2", groups)
	}
}

func TestParquetReportsWriteErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for n := 0; ; n++ {
		f := failing(n)
		err := WritePredictions(context.Background(), &f, ".parquet", Columns{Classes: classes}, 2*groupRows, func(i int, p *Prediction) {
			*p = predictions[i%len(predictions)]
			p.Node = strconv.Itoa(i * 7919)
		})
		if f >= 0 {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if err != io.ErrClosedPipe {
			t.Errorf("write %d fails: %v", n, err)
		}
	}
}
