package tablefile

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is written as a table or as Matrix Market must be read back to the bit, with the ids of a table.
func TestSharedFormats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Custom(func(t *rapid.T) float64 {
			return rapid.Float64Range(-1, 1).Draw(t, "digits") * math.Pow(10, float64(rapid.IntRange(-300, 300).Draw(t, "exponent")))
		})
		n := rapid.IntRange(1, 5).Draw(t, "rows")
		k := rapid.IntRange(1, 4).Draw(t, "columns")
		id := rapid.StringMatching(`q[a-z ,;é0-9]{0,5}[a-z]`) // no title of a column of nodes, such as id
		m := &Matrix{Rows: AxisOf(rapid.SliceOfNDistinct(id, n, n, rapid.ID).Draw(t, "ids")),
			Cols: AxisOf(rapid.SliceOfNDistinct(id, k, k, rapid.ID).Draw(t, "titles"))}
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = rapid.SliceOfN(number, k, k).Draw(t, "row")
		}
		for _, format := range []*Format{CSV, Market} {
			var content bytes.Buffer
			writeRows(t, &content, format, m, rows)
			file := path + format.Endings[0]
			if err := os.WriteFile(file, content.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			got, err := read[float64](file, &Options{Shared: true})
			if err != nil || got.Format != format || !equal(got.rows, rows) {
				t.Fatalf("%s: %v, %v of %q", format.Name, got, err, content.String())
			}
			if format != CSV {
				continue
			}
			for which, want := range map[string]Axis{"rows": m.Rows, "cols": m.Cols} {
				axis, err := got.Axis(t.Context(), which)
				if err != nil || axis.N != want.N {
					t.Fatalf("%s: %d, %v", which, axis.N, err)
				}
				for i := range want.N {
					if axis.ID(i) != want.ID(i) {
						t.Errorf("%s %d: %q, want %q", which, i, axis.ID(i), want.ID(i))
					}
				}
			}
		}
	})
}

func TestReadMarket(t *testing.T) {
	const banner = "%%MatrixMarket matrix "
	for text, want := range map[string][][]float64{
		"array real general\n% comment\n2 3\n1\n2\n3\n4\n5\n6e0\n":               {{1, 3, 5}, {2, 4, 6}},
		"coordinate real symmetric\n2 2 2\n1 1 1\n2 1 -3\n":                      {{1, -3}, {-3, 0}},
		"coordinate integer skew-symmetric\n3 3 2\n3 1 2\n2 1 5\n":               {{0, -5, -2}, {5, 0, 0}, {2, 0, 0}},
		"coordinate pattern general\r\n2 2 2\r\n2 2\r\n1 2\r\n":                  {{0, 1}, {0, 1}},
		"coordinate double general\n1 2 3\n1 1 1\n1 1 2\n\n1 2 4\n":              {{3, 4}},
		"coordinate real general\n2 2 0\n":                                       {{0, 0}, {0, 0}},
		"Coordinate Real General\n%\n%\n1 1 1\n1 1 1e-300\n":                     {{1e-300}},
		"coordinate unsigned-integer general\n1 1 1\n1 1 18446744073709551615\n": {{18446744073709551615}},
	} {
		got, err := read[float64](write(t, "x.mtx", []byte(banner+text)), &Options{Shared: true})
		if err != nil || !equal(got.rows, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"coordinate complex general\n1 1 1\n1 1 1 0\n":     ":1: ",
		"coordinate real hermitian\n1 1 0\n":               ":1: ",
		"coordinate real general\n1 1\n":                   ":2: 2 fields, want 3 sizes",
		"coordinate real general\n1 1 9000\n1 1 1\n":       ":2: 9000 elements in a file of ",
		"coordinate real general\n0 1 0\n":                 ":2: ",
		"coordinate real symmetric\n1 2 0\n":               ":2: 1 × 2, and symmetric",
		"coordinate real general\n2 2 1\n3 1 1\n":          `:3: "3" is not in 1 to 2`,
		"coordinate real general\n2 2 1\n1 1\n":            ":3: 2 fields, want 3",
		"coordinate real general\n2 2 1\n1 1 x\n":          `:3: "x" is not a number`,
		"coordinate real general\n2 2 2\n1 1 1\n":          ":3: ends after 1 of 2 elements",
		"coordinate real general\n2 2 1\n1 1 1\n2 2 2\n":   ":4: an element after the 1 that the head states",
		"coordinate real general\n3000000000 1 0\n":        ":2: ",
		"array real general\n2 1\n1\n" + "2 " + "3" + "\n": ":4: 2 fields, want 1",
	} {
		_, err := read[float64](write(t, "x.mtx", []byte(banner+text)), &Options{Shared: true})
		if err == nil || !strings.Contains(err.Error(), "x.mtx"+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestReadTableOfNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"id,a\nx,1\ny,two\n": `:3:3: "two" is not a number`,
		"id,a\nx,1\ny\n":     ":3: 1 field, but line 1 has 2",
		"id,a\nx,1\ny,inf\n": `:3:3: "inf" `,
		"id,a\nx,1e300\n":    `:2:3: "1e300" is beyond float32`,
		"id,a\n":             ": no row of numbers",
		"x\ny\n":             ": no column of numbers",
	} {
		_, err := read[float32](write(t, "x.csv", []byte(text)), &Options{Shared: true})
		if err == nil || !strings.Contains(err.Error(), "x.csv"+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
