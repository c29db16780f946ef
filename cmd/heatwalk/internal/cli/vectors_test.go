package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

func vertices(sizes ...int) (list [][]int) {
	list = [][]int{nil}
	for _, size := range sizes {
		var longer [][]int
		for _, v := range list {
			for x := range size {
				longer = append(longer, append(append([]int(nil), v...), x))
			}
		}
		list = longer
	}
	return list
}

func TestGoldenVectors(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	csv := func(name string, records [][]int) {
		var text strings.Builder
		for _, r := range records {
			fmt.Fprintln(&text, strings.Trim(strings.ReplaceAll(fmt.Sprint(r), " ", ","), "[]"))
		}
		write(name, text.String())
	}
	check := func(file, table, flags string) {
		t.Helper()
		want := testgraph.Golden(t, "closed/"+file+".npy")
		out := filepath.Join(dir, "K.npy")
		run(t, append([]string{"records", "kernel", filepath.Join(dir, table), "--header", "no", "--dtype", "float64", "--quiet", "-o", out}, strings.Fields(flags)...)...)
		testgraph.Close(t, readNPY(t, out, want.Rows, want.Cols), want, 1e-10, 1e-9)
	}

	// After the records come others with all possible values.
	var records [][]int
	codes := testgraph.Golden(t, "closed/records.npy")
	var ids strings.Builder
	for i := range codes.Rows {
		var r []int
		for _, v := range codes.Row(i) {
			r = append(r, int(v))
		}
		records = append(records, r)
		fmt.Fprintln(&ids, i+1)
	}
	for v := range 10 {
		records = append(records, []int{v % 2, v % 5, v % 3, v, v % 4, v % 2})
	}
	write("first.ids", ids.String())
	csv("records.csv", records)
	csv("cube.csv", vertices(2, 2, 2, 2))
	csv("categorical.csv", vertices(2, 3, 4))
	csv("complete.csv", vertices(7))
	words, err := os.ReadFile(filepath.Join(testgraph.Root(t), "testdata", "golden", "closed", "strings.txt"))
	if err != nil {
		t.Fatal(err)
	}
	write("words.csv", `"`+strings.ReplaceAll(strings.TrimRight(string(words), "\n"), "\n", "\"\n\"")+"\"\n")

	first := strings.ReplaceAll(" --rows IDS --cols IDS", "IDS", filepath.Join(dir, "first.ids"))
	check("records_matches", "records.csv", "--kernel hamming"+first)
	for _, beta := range []string{"0.1", "1.0", "4.0"} {
		given := ":beta=" + beta
		check("records_kernel_b"+beta, "records.csv", "--kernel categorical"+given+first)
		check("records_heat_b"+beta, "records.csv", "--kernel categorical:scale=raw"+given+first)
		check("categorical_cube_b"+beta, "categorical.csv", "--kernel categorical:scale=raw"+given)
		check("complete_n7_b"+beta, "complete.csv", "--kernel categorical:scale=raw"+given)
		check("hypercube_m4_b"+beta, "cube.csv", "--kernel hypercube:scale=raw"+given)
		check("strings_recursion_b"+beta, "words.csv", "--kernel strings:scale=raw"+given)
		check("strings_n8_b"+beta, "words.csv", "--kernel strings:places=8:scale=raw"+given)
	}
}
