package graphfile

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "github.com/heatwalk/heatwalk/file/parquetfile"
	"github.com/heatwalk/heatwalk/file/table"
)

func TestKinds(t *testing.T) {
	var content bytes.Buffer
	file := bufio.NewWriter(&content)
	w, err := table.CreateParquet(file, "edges", []table.ParquetColumn{{Name: "source"}, {Name: "by"}, {Name: "target"}}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"a pays b", "b calls c", "c calls a"} {
		for _, cell := range strings.Fields(row) {
			w.String([]byte(cell))
		}
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmp.Or(w.Close(), file.Flush()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		format             *Format
		content, kind, err string
	}{
		{GraphML, `<graphml><key id="k" for="edge" attr.name="by"><default> calls </default></key><graph edgedefault="directed"><node id="a"/>` +
			`<edge source="a" target="a"><data key="k">pays</data></edge><edge source="a" target="a"/><edge source="a" target="a"/></graph></graphml>`, "by", ""},
		{Parquet, content.String(), "BY", ""},
		{Parquet, content.String(), "relation", `the header "source,by,target" has no column "relation"; correct`},
	} {
		var names []string
		var kinds []uint32
		number := func(_ table.TimeForm, name, _ string) (uint32, string) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			return uint32(slices.Index(names, name)), ""
		}
		in := &Input{Name: "e", Text: strings.NewReader(test.content), Kind: test.kind, Code: number}
		_, err := Read(test.format, in, func(b *Batch) error {
			kinds = append(kinds, b.Code...)
			return nil
		})
		if got := fmt.Sprint(names, kinds); test.err == "" && (err != nil || got != "[pays calls] [0 1 1]") {
			t.Errorf("%s: %s, %v", test.format.Title, got, err)
		}
		if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%s: %v", test.format.Title, err)
		}
	}
}
