package graphfile

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/table"
)

func TestMarketRoundTrip(t *testing.T) {
	for _, head := range []marketHead{
		{PatternField, General, 3, 3}, {PatternField, Symmetric, 3, 3}, {IntegerField, Symmetric, 3, 3}, {realField, General, 3, 3}, {realField, Skew, 4, 3},
	} {
		text := head.String()
		for i := range uint32(head.Entries) {
			text += string(appendMarketEntry(nil, 2, i%2))
			if head.Field != PatternField {
				text += fmt.Sprint(" ", i+1)
			}
			text += "\n"
		}
		if !IsMarket("x", []byte(text)) || IsMarket("x", []byte("% "+text)) || !IsMarket("x.mtx.gz", nil) {
			t.Errorf("%q is not recognized by its first line", text)
		}
		r := &MarketReader{Name: "x.mtx", Signed: true}
		last, entries := false, int64(0)
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if number := int64(i + 1); !last {
				var bad error
				if last, bad = headLine(r, line, number); bad != nil {
					t.Fatal(bad)
				}
				continue
			}
			var f table.Fields
			if err := f.Split([]byte(line), table.Blanks); err != nil {
				t.Fatal(err)
			}
			value := 1.0
			if head.Field != PatternField {
				value = float64(entries + 1)
			}
			row, col, got, bad := r.Entry(&f, int64(i+1))
			if bad != nil || row != 2 || col != uint32(entries%2) || got != value {
				t.Errorf("%q is read as (%d, %d) %g, %v", line, row, col, got, bad)
			}
			entries++
		}
		if r.marketHead != head || r.Complete(entries) != nil {
			t.Errorf("%+v is read as %+v, with %d entries", head, r.marketHead, entries)
		}
		if err := r.Complete(entries - 1); err == nil || err.Error() != "x.mtx: 2 entries, line 2 declares 3; fetch the file again" {
			t.Errorf("got %v", err)
		}
	}
}

func headLine(r *MarketReader, line string, number int64) (last bool, err error) {
	last, bad := r.Line([]byte(line), number, 10)
	if bad != nil {
		err = bad
	}
	return last, err
}

func TestMarketSkew(t *testing.T) {
	r := &MarketReader{marketHead: marketHead{realField, Skew, 5, 1}}
	var f table.Fields
	if err := f.Split([]byte("4 2 -1.5"), table.Blanks); err != nil {
		t.Fatal(err)
	}
	if row, col, value, bad := r.Entry(&f, 3); bad != nil || row != 1 || col != 3 || value != 1.5 {
		t.Errorf("(%d, %d) %g, %v", row, col, value, bad)
	}
}

func TestMarketNegativeZero(t *testing.T) {
	r := &MarketReader{marketHead: marketHead{realField, General, 5, 1}}
	var f table.Fields
	if err := f.Split([]byte("4 2 -0"), table.Blanks); err != nil {
		t.Fatal(err)
	}
	if _, _, value, bad := r.Entry(&f, 3); bad != nil || value != 0 || math.Signbit(value) {
		t.Errorf("%g, %v", value, bad)
	}
}
