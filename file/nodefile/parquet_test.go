package nodefile

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	_ "github.com/heatwalk/heatwalk/file/parquetfile"
)

func parquetOf[T any](t *testing.T, rows []T) string {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestParquetLabels(t *testing.T) {
	type usual struct {
		Node  string `parquet:"node"`
		Label string `parquet:"label"`
	}
	type turned struct {
		Class  *string  `parquet:"class,optional"`
		Scores []string `parquet:"scores,list"`
		ID     string   `parquet:"id"`
		Index  int64    `parquet:"__index_level_0__"`
	}
	type numbered struct {
		Node  string   `parquet:"node"`
		Label *float64 `parquet:"label,optional"`
	}
	a, none := "a", "None"
	one, two := 1.0, 2.0
	for name, c := range map[string]struct {
		text    string
		config  LabelConfig
		classes []string
		missing int
	}{
		"usual":    {parquetOf(t, []usual{{"n1", "b"}, {"n2", "a"}, {"n3", ""}}), LabelConfig{}, []string{"b", "a"}, 1},
		"turned":   {parquetOf(t, []turned{{&a, nil, "n1", 5}, {nil, nil, "n2", 6}, {&none, []string{"x"}, "n3", 7}}), LabelConfig{}, []string{"a", "None"}, 1},
		"numbers":  {parquetOf(t, []numbered{{"n1", &one}, {"n2", nil}, {"n3", &two}}), LabelConfig{}, []string{"1", "2"}, 1},
		"by title": {parquetOf(t, []turned{{&a, nil, "n1", 5}, {&a, nil, "n2", 6}}), LabelConfig{Fields: []string{"id", "__index_level_0__"}}, []string{"5", "6"}, 0},
		"by place": {parquetOf(t, []usual{{"n1", "b"}, {"n2", "a"}}), LabelConfig{Fields: []string{"1", "2"}}, []string{"b", "a"}, 0},
	} {
		for _, ending := range []string{"l.parquet", "l.pq"} {
			got, err := ReadLabels(t.Context(), write(t, file{ending, c.text})[0], names(t), &c.config)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if !slices.Equal(got.Names, c.classes) || got.Unlabelled != c.missing {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
	for text, want := range map[string]string{
		parquetOf(t, []usual{{"n1", "b"}, {"x", "a"}}):                   `l.parquet:2: "x" is not in the graph (1 of 2 ids is not); list nodes without edges`,
		parquetOf(t, []usual{{"n1", "b"}, {"n1", "a"}}):                  `l.parquet:2: "n1" is a here, b on line 1; keep one of the lines`,
		parquetOf(t, []usual{{"n1", "b"}, {"", "a"}}):                    "l.parquet:2: empty id; remove such rows",
		parquetOf(t, []usual{{"n1", "b"}, {"n2", "a"}})[:80]:             "l.parquet: not a complete Parquet file: it does not end in a footer; fetch the file again",
		packed(parquetOf(t, []usual{{"n1", "b"}})):                       "l.parquet: a Parquet file cannot be read from a pipe, or compressed with gzip or zstd; decompress it to a file",
		parquetOf(t, []usual{{"n1", strings.Repeat("a", 1<<20) + "bc"}}): "l.parquet: row 0: label is longer than 1 MiB; correct it",
	} {
		_, err := ReadLabels(t.Context(), write(t, file{"l.parquet", text})[0], names(t), nil)
		if err == nil || !strings.Contains(err.Error(), want) || !isData(err) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	rows, err := ReadIDs(t.Context(), write(t, file{"r.parquet", parquetOf(t, []usual{{"n2", ""}, {"n1", ""}})})[0], names(t), nil)
	if err != nil || len(rows) != 2 {
		t.Errorf("%v, %v", rows, err)
	}
}
