package tablefile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/file/npy"
)

// TestNumbersKeepTheirOrder draws numbers far from 0. As attributes of a table and of an array they must have the order and
// the ties that they have in float64, or a warning names the column.
func TestNumbersKeepTheirOrder(t *testing.T) {
	ids := []string{"0", "1", "2", "3", "4", "5", "6", "7"}
	nodes := nodesOf(t, ids...)
	rapid.Check(t, func(r *rapid.T) {
		offset := rapid.SampledFrom([]float64{0, 1, -1e5, 1.7e9, 1.7e12, 1e15}).Draw(r, "offset")
		step := rapid.SampledFrom([]float64{0.01, 1, 1000, 1e6}).Draw(r, "step")
		values := make([]float64, len(ids))
		for i := range values {
			values[i] = offset + step*float64(rapid.IntRange(0, 1<<20).Draw(r, "value"))
		}
		dir := t.TempDir()
		table, array := filepath.Join(dir, "x.csv"), filepath.Join(dir, "x.npy")
		var text strings.Builder
		w := csv.NewWriter(&text)
		_ = w.Write([]string{"node", "TIME"})
		for i, x := range values {
			_ = w.Write([]string{ids[i], strconv.FormatFloat(x, 'f', -1, 64)})
		}
		w.Flush()
		var content bytes.Buffer
		out, err := npy.NewWriter[float64](&content, len(ids), 1)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(out.Floats(values), out.Close(), os.WriteFile(array, content.Bytes(), 0o666), os.WriteFile(table, []byte(text.String()), 0o666))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{table, array} {
			isWarned := false
			f, err := ReadFeatures(t.Context(), path, nodes, &FeatureConfig{Warn: func(error) { isWarned = true }})
			if err != nil {
				r.Fatal(err)
			}
			rows := f.Table.Reader()
			stored := make([]float64, len(ids))
			for i := range ids {
				if columns, row := rows.Row(i); columns == nil || len(columns) > 0 {
					stored[i] = float64(row[0])
				}
			}
			for i := range ids {
				for j := range ids {
					before, after := values[i]-values[j], stored[i]-stored[j]
					if before*after < 0 || before == 0 && after != 0 || before != 0 && after == 0 && !isWarned {
						r.Fatalf("%s: %v and %v are stored as %v and %v", path, values[i], values[j], stored[i], stored[j])
					}
				}
				if width := slices.Max(values) - slices.Min(values); path == table && width > 0 {
					name, value, _ := strings.Cut(f.Name(0, []float32{float32(stored[i])}), " = ")
					x, err := strconv.ParseFloat(value, 64)
					if name != "TIME" || err != nil || math.Abs(x-values[i]) > 1e-6*max(width, math.Abs(stored[i])) {
						r.Fatalf("%v is called %q", values[i], value)
					}
				}
			}
		}
	})
}
