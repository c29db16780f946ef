package expm

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

type goldenKernel struct {
	format     string // format of the file's name
	of         string // the map
	parameters [][]any
	f          func(p []any) Function
}

func float(p any) float64 { return p.(float64) }

func values(v ...float64) (p [][]any) {
	for _, x := range v {
		p = append(p, []any{x})
	}
	return p
}

var goldenKernels = []goldenKernel{
	{"diffusion_L_b%.1f", "L", values(.1, 1, 5, 20, 50), func(p []any) Function { return Exp(-float(p[0])) }},
	{"diffusion_Lnorm_b%.1f", "L̃", values(.1, 1, 5, 20, 50), func(p []any) Function { return Exp(-float(p[0])) }},
	{"exponential_A_b%.1f", "A", values(.1, .5), func(p []any) Function { return Exp(float(p[0])) }},
	{"exponential_S_b%.1f", "S", values(.1, .5), func(p []any) Function { return Exp(float(p[0])) }},
	{"ppr_sym_a%v", "L̃", values(.5, .85), func(p []any) Function { return Inverse(1, float(p[0])/(1-float(p[0]))) }},
	{"vonneumann_S_a%v", "S", values(.1, .5, .9, .99), func(p []any) Function { return Inverse(1, -float(p[0])) }},
	{"pstep_a%.1f_p%d", "L̃", [][]any{{2., 1}, {2., 2}, {2., 5}, {3., 1}, {3., 2}, {3., 5}, {2., 3}}, func(p []any) Function { return Power(float(p[0]), p[1].(int)) }},
	{"matern_L_nu%.1f_k%.1f", "L", [][]any{{.5, 1.}, {1.5, 1.}, {2.5, 3.}, {1.5, 2.}}, goldenMatern},
	{"matern_Lnorm_nu%.1f_k%.1f", "L̃", [][]any{{.5, 1.}, {1.5, 1.}, {2.5, 3.}, {1.5, 2.}}, goldenMatern},
}

func goldenMatern(p []any) Function {
	nu, kappa := float(p[0]), float(p[1])
	return Matern(2*nu/(kappa*kappa), nu)
}

func exists(t *testing.T, name string) bool {
	_, err := os.Stat(filepath.Join(testgraph.Root(t), "testdata", "golden", name))
	return err == nil
}

func TestGoldenKernels(t *testing.T) {
	for _, name := range []string{"karate", "wrand60", "sbm300"} {
		if name != "karate" && testing.Short() {
			break
		}
		golden := testgraph.Load(t, name)
		g := graphOf(t, golden.A, 2)
		files := 0
		for _, k := range goldenKernels {
			m := mapOf(t, g, k.of)
			for _, p := range k.parameters {
				file := name + "/" + fmt.Sprintf(k.format, p...) + ".npy"
				if !exists(t, file) {
					continue
				}
				files++
				// Row i of a file is column i of the function.
				want := testgraph.Golden(t, file)
				rows := all(len(g.Degrees))
				if want.Rows != want.Cols {
					rows = golden.Train
				}
				y, _ := apply(t, m, identity(len(g.Degrees), rows...), 1e-11, k.f(p))
				t.Run(file, func(t *testing.T) { testgraph.Close(t, transposed(y[0]), want, 1e-10, 1e-9) })
			}
		}
		if least := map[string]int{"karate": 26, "wrand60": 26, "sbm300": 9}[name]; files < least {
			t.Errorf("%s: %d golden files, want %d at least", name, files, least)
		}
	}
}

func TestGoldenBlocks(t *testing.T) {
	golden := testgraph.Load(t, "sbm300")
	g, b := graphOf(t, golden.A, 2), testgraph.Golden(t, "sbm300/B.npy")
	for _, c := range []struct {
		file, of string
		f        Function
	}{
		{"expL_B_b0.1", "L", Exp(-.1)}, {"expL_B_b1.0", "L", Exp(-1)}, {"expL_B_b10.0", "L", Exp(-10)},
		{"expL_B_b100.0", "L", Exp(-100)}, {"expL_B_b1000.0", "L", Exp(-1000)},
		{"expLnorm_B_b0.1", "L̃", Exp(-.1)}, {"expLnorm_B_b1.0", "L̃", Exp(-1)}, {"expLnorm_B_b10.0", "L̃", Exp(-10)},
		{"expLnorm_B_b100.0", "L̃", Exp(-100)}, {"expLnorm_B_b1000.0", "L̃", Exp(-1000)},
		{"expA_B_b0.1", "A", Exp(.1)}, {"expA_B_b1.0", "A", Exp(1)},
		{"vonneumann_B_a0.5", "S", Inverse(1, -.5)}, {"vonneumann_B_a0.99", "S", Inverse(1, -.99)},
	} {
		t.Run(c.file, func(t *testing.T) {
			y, _ := apply(t, mapOf(t, g, c.of), b, 1e-11, c.f)
			testgraph.Close(t, y[0], testgraph.Golden(t, "sbm300/"+c.file+".npy"), 1e-10, 1e-9)
		})
	}
}
