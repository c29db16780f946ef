package choose

import (
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
)

func TestWeighed(t *testing.T) {
	for _, ridge := range []bool{true, false} {
		v := param.Values{"x": param.Of(2.0), "y": param.Of(5.0)}
		w := ScaleSetting(&classify.Path{Parameter: "x", Ridge: ridge}, v, 4)
		want := 0.5
		if ridge {
			want = 8
		}
		if w.Number("x") != want || w.Number("y") != 5 || v.Number("x") != 2 {
			t.Errorf("ridge %v: %v of %v", ridge, w, v)
		}
	}
}
