package parts

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/file/tablefile"
)

// Parts that leave rows out, or have some twice, make no matrix.
func TestPartsThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	part := func(lo, hi, whole int) Part {
		var b bytes.Buffer
		w, err := npy.NewWriter[float32](&b, hi-lo, 3)
		for i := lo; i < hi && err == nil; i++ {
			err = w.Floats([]float32{1, 2, 3})
		}
		path := filepath.Join(dir, string(rune('a'+lo)))
		if err = errors.Join(err, w.Close(), os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
		return Part{Path: path, Matrix: &Shape{Axis: ByRows, Lo: lo, Hi: hi, Whole: whole, Groups: 1, Dtype: "float32"}}
	}
	for want, parts := range map[string][]Part{
		"ends with 2 of 4":                     {part(0, 2, 4)},
		"holds rows 3 to 4 where 2 comes next": {part(0, 2, 4), part(3, 4, 4)},
		"holds rows 1 to 4 where 2 comes next": {part(0, 2, 4), part(1, 4, 4)},
		"holds rows 2 to 5 where 2 comes next": {part(0, 2, 4), part(2, 5, 4)},
	} {
		err := Merge(t.Context(), parts, func(tablefile.Axis, tablefile.Axis, func(int, []float64) error) error {
			t.Errorf("%s: parts that do not fit are put together", want)
			return nil
		})
		wrong := new(Error)
		if !errors.As(err, &wrong) || !strings.Contains(wrong.What, want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
