package ongram

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

var betas = []float64{0.1, 1, 4}

type function func(i, j int) float64

func valueOf(g classify.Gram) function {
	return func(i, j int) float64 {
		var v [1]float64
		g.PartTo(v[:], i, []int{j})
		return v[0]
	}
}

func same(t *testing.T, file string, value function) {
	t.Helper()
	want := testgraph.Golden(t, "closed/"+file+".npy")
	got := sparse.NewBlock[float64](want.Rows, want.Cols)
	for i := range got.Rows {
		for j := range got.Row(i) {
			got.Row(i)[j] = value(i, j)
		}
	}
	testgraph.Close(t, got, want, 1e-13, 1e-12)
}

func TestGoldenFunctions(t *testing.T) {
	for _, beta := range betas {
		name := func(format string, args ...any) string {
			return fmt.Sprintf(format, args...) + fmt.Sprintf("_b%.1f", beta)
		}
		for _, n := range []int{2, 7} {
			same(t, name("complete_n%d", n), vertices(beta, n))
		}
		for _, n := range []int{3, 9} {
			same(t, name("chain_n%d", n), func(i, j int) float64 { return ClosedChain(n, max(i-j, j-i), beta) })
		}
		same(t, name("path_n8"), func(i, j int) float64 { return OpenChain(8, i, j, beta) })
		same(t, name("hypercube_m4"), vertices(beta, 2, 2, 2, 2))
		same(t, name("categorical_cube"), vertices(beta, 2, 3, 4))
		same(t, name("rooted_binary_tree"), func(i, j int) float64 { return rooted(3, i, j, beta) })
	}
	same(t, "regular_tree_k3_column", column(func(i int) float64 { return RegularTree(3, i, 0.25) }))
	same(t, "rooted_tree_k3_column", column(func(i int) float64 { return rooted(3, i, 4, 0.25) }))
}

// vertices returns the kernel of a product of complete graphs, in lexicographic order.
func vertices(beta float64, sizes ...int) function {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	list, each := make([]nodefile.Column, len(sizes)), n
	for a, size := range sizes {
		each /= size
		list[a].Values = make([]string, size)
		for v := range n {
			list[a].Code = append(list[a].Code, int32(v/each%size))
		}
	}
	g, err := categorical.Of(list, param.Values{"beta": param.Of(beta), "scale": param.Of("raw"), "missing-values": param.Of("value")})
	if err != nil {
		panic(err)
	}
	return valueOf(g)
}

// column is a function of one vertex, for files of a row or a column.
func column(value func(i int) float64) function {
	return func(i, j int) float64 { return value(i + j) }
}

// rooted is RootedTree in breadth-first order.
func rooted(k, i, j int, beta float64) float64 {
	depth := func(v int) (d int) {
		for ; v > 0; v = (v - 1) / (k - 1) {
			d++
		}
		return d
	}
	a, b := i, j
	for depth(a) > depth(b) {
		a = (a - 1) / (k - 1)
	}
	for depth(b) > depth(a) {
		b = (b - 1) / (k - 1)
	}
	for a != b {
		a, b = (a-1)/(k-1), (b-1)/(k-1)
	}
	return RootedTree(k, depth(i)+depth(j)-2*depth(a), depth(i), depth(j), beta)
}

func TestGoldenRegularTree(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testgraph.Root(t), "testdata", "golden", "closed", "regular_tree.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		var v []float64
		for _, field := range strings.Fields(line) {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, x)
		}
		k, beta, d := int(v[0]), v[1], int(v[2])
		for i, got := range []float64{RegularTree(k, d, beta/v[0]), RegularTree(k, d, beta)} {
			if want := v[3+i]; math.Abs(got-want) > 1e-14+1e-12*math.Abs(want) {
				t.Errorf("%s: %g, want %g", line, got, want)
			}
		}
	}
}

func goldenRecords(t *testing.T) []nodefile.Column {
	codes := testgraph.Golden(t, "closed/records.npy")
	list := make([]nodefile.Column, codes.Cols)
	for a, size := range []int{2, 5, 3, 10, 4, 2} {
		list[a].Values = make([]string, size)
		for i := range codes.Rows {
			list[a].Code = append(list[a].Code, int32(codes.Row(i)[a]))
		}
	}
	return list
}

func gramOf(t testing.TB, name string, attributes []nodefile.Column, given param.Values) classify.Gram {
	t.Helper()
	k := RecordKernels().Named(name)
	v, err := k.Resolve(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := k.Of(attributes, v)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGoldenRecords(t *testing.T) {
	list := goldenRecords(t)
	same(t, "records_matches", valueOf(gramOf(t, "hamming", list, nil)))
	for _, beta := range betas {
		for scale, kind := range map[string]string{"unit": "kernel", "raw": "heat"} {
			g := gramOf(t, "categorical", list, param.Values{"beta": param.Of(beta), "scale": param.Of(scale)})
			same(t, fmt.Sprintf("records_%s_b%.1f", kind, beta), valueOf(g))
		}
	}
}

func TestGoldenStrings(t *testing.T) {
	f, err := os.Open(filepath.Join(testgraph.Root(t), "testdata", "golden", "closed", "strings.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := nodefile.Column{Name: "text"}
	for s := bufio.NewScanner(f); s.Scan(); {
		a.Code = append(a.Code, int32(len(a.Values)))
		a.Values = append(a.Values, s.Text())
	}
	for _, beta := range betas {
		for file, places := range map[string]int{"recursion": 0, "n8": 8} {
			given := param.Values{"beta": param.Of(beta), "places": param.Of(places), "scale": param.Of("raw")}
			raw := valueOf(gramOf(t, "strings", []nodefile.Column{a}, given))
			same(t, fmt.Sprintf("strings_%s_b%.1f", file, beta), raw)
			given["scale"] = param.Of("unit")
			unit := valueOf(gramOf(t, "strings", []nodefile.Column{a}, given))
			for i := range a.Code {
				for j := range a.Code {
					want := raw(i, j) / math.Sqrt(raw(i, i)*raw(j, j))
					if got := unit(i, j); math.Abs(got-want) > 1e-13 {
						t.Errorf("K(%d, %d) is %g, want %g", i, j, got, want)
					}
				}
			}
		}
	}
}
