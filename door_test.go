package heatwalk_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/param"
)

// hostile are values of each kind that methods of a graph take from data.
var (
	hostileNumbers = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308, math.SmallestNonzeroFloat64, 0, -1}
	hostileIDs     = [][]string{nil, {}, {""}, {"0", "0"}, {"nobody"}, {"0", "\xff"}, {"0"}}
	hostileNames   = []string{"", ",", "cwk", "majority,lp", "auto:", "commute-time", "solve", "what", "lp:alpha=NaN", "diffusion:beta=-1",
		"diffusion:beta=1e308", "diffusion+", "+rls", "a\x00b"}
	hostileLabels = []map[string]string{nil, {}, {"0": ""}, {"0": "a"}, {"0": "a", "3": ""}, {"0": "a", "1": "a"}, {"nobody": "a"},
		{"0": "a", "1": "\xff"}, {"0": "a", "3": "b"}}
)

// hostileBlocks returns matrices, few of which fit a graph of n nodes.
func hostileBlocks(n int) []mat.Matrix {
	list := []mat.Matrix{nil, &mat.Dense{}, mat.NewDense(n+1, 1, nil), mat.NewDense(n, 2, nil)}
	for _, x := range hostileNumbers {
		b := mat.NewDense(n, 1, nil)
		b.Set(0, 0, x)
		list = append(list, b)
	}
	return list
}

// Results must be finite.
func TestHostileValues(t *testing.T) {
	ctx := t.Context()
	graphs := map[string]*mat.Dense{
		"path":     mat.NewDense(4, 4, []float64{0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0}),
		"arcs":     mat.NewDense(4, 4, []float64{0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0}),
		"no edges": mat.NewDense(4, 4, nil),
		"one node": mat.NewDense(1, 1, nil),
		"wide":     mat.NewDense(4, 4, []float64{0, 1e-150, 0, 0, 1e-150, 0, 1e150, 0, 0, 1e150, 0, 1, 0, 0, 1, 0}),
	}
	matrices := []heatwalk.Matrix{heatwalk.Adjacency, heatwalk.NormalizedLaplacian, heatwalk.Laplacian, "", "what"}
	for name, m := range graphs {
		g, err := heatwalk.FromMat(ctx, m, nil)
		if err != nil {
			continue // its weights are refused
		}
		n := g.Nodes.Len()
		try := func(call string, do func() error) {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%s: %s: panic: %v", name, call, r)
				}
			}()
			_ = do()
		}
		tried := map[string]bool{}
		each := func(method string, do func(what func(arguments ...any))) {
			tried[method] = true
			do(func(arguments ...any) {
				call := arguments[len(arguments)-1].(func() error)
				try(fmt.Sprintf("%s(%v)", method, arguments[:len(arguments)-1]), call)
			})
		}
		each("Begin", func(call func(...any)) {
			call(nil, func() error { _, err := g.Begin(ctx, nil); return err })
		})
		for method, classify := range map[string]func(map[string]string, *heatwalk.ClassifyOptions) error{
			"Classify": func(l map[string]string, o *heatwalk.ClassifyOptions) error {
				_, err := g.Classify(ctx, l, o)
				return err
			},
			"Evaluate": func(l map[string]string, o *heatwalk.ClassifyOptions) error {
				_, err := g.Evaluate(ctx, l, o)
				return err
			},
			"Explain": func(l map[string]string, o *heatwalk.ClassifyOptions) error {
				_, err := g.Explain(ctx, l, []string{"0"}, o)
				return err
			},
			"Problem": func(l map[string]string, _ *heatwalk.ClassifyOptions) error { _, err := g.Problem(l); return err },
		} {
			each(method, func(call func(...any)) {
				splits := 0
				if method == "Evaluate" {
					splits = 1
				}
				for _, labels := range hostileLabels {
					call(labels, func() error { return classify(labels, &heatwalk.ClassifyOptions{Method: "lp:alpha=1", Splits: splits}) })
				}
				labels := map[string]string{"0": "a", "3": "b"}
				for _, spec := range hostileNames {
					call(spec, func() error {
						return classify(labels, &heatwalk.ClassifyOptions{Method: spec, Splits: splits, Grid: "none"})
					})
				}
				for _, grid := range []string{"", "what", "\x00"} {
					call(grid, func() error {
						return classify(labels, &heatwalk.ClassifyOptions{Method: "lp", Splits: splits, Grid: grid})
					})
				}
				for _, x := range hostileNumbers {
					call(x, func() error {
						return classify(labels, &heatwalk.ClassifyOptions{Method: "lp:alpha=1", Splits: int(max(-9, min(x, 2))), Train: []float64{x}})
					})
				}
				call("no share", func() error { return classify(labels, &heatwalk.ClassifyOptions{Train: []float64{}}) })
			})
		}
		each("ReadLabels", func(call func(...any)) {
			for _, path := range []string{"", "what", "."} {
				call(path, func() error { _, err := g.ReadLabels(ctx, path, nil); return err })
			}
		})
		each("ReadAttributes", func(call func(...any)) {
			for _, path := range []string{"", "what", "."} {
				call(path, func() error { _, err := g.ReadAttributes(ctx, path, nil); return err })
			}
		})
		each("Explain", func(call func(...any)) {
			for _, ids := range hostileIDs {
				call(ids, func() error {
					_, err := g.Explain(ctx, hostileLabels[8], ids, &heatwalk.ClassifyOptions{Method: "lp:alpha=1"})
					return err
				})
			}
		})
		each("Regress", func(call func(...any)) {
			for _, x := range hostileNumbers {
				for _, spec := range []string{"", "harmonic", "what"} {
					call(x, spec, func() error { _, err := g.Regress(ctx, map[string]float64{"0": x, "3": 1}, spec); return err })
				}
			}
			call(nil, func() error { _, err := g.Regress(ctx, nil, ""); return err })
			for _, spec := range hostileNames {
				call(spec, func() error { _, err := g.Regress(ctx, map[string]float64{"0": 2, "3": 1}, spec); return err })
			}
		})
		each("Rank", func(call func(...any)) {
			for _, ids := range hostileIDs {
				for _, spec := range hostileNames {
					call(ids, spec, func() error { _, err := g.Rank(ctx, ids, spec, 0); return err })
				}
			}
		})
		each("Kernel", func(call func(...any)) {
			for _, ids := range hostileIDs {
				call(ids, func() error { _, _, err := g.Kernel(ctx, "diffusion", ids, nil, 0); return err })
				call(ids, func() error { _, _, err := g.Kernel(ctx, "diffusion", []string{"0"}, ids, 0); return err })
			}
			for _, spec := range hostileNames {
				call(spec, func() error { _, _, err := g.Kernel(ctx, spec, nil, nil, 0); return err })
			}
		})
		each("Eigen", func(call func(...any)) {
			for _, m := range matrices {
				for _, which := range []lanczos.Which{lanczos.Smallest, lanczos.Largest, lanczos.Which(77)} {
					for _, k := range []int{math.MinInt, -1, 0, 1, n, n + 1, math.MaxInt} {
						call(m, which, k, func() error { _, _, err := g.Eigen(ctx, m, which, k, 0); return err })
					}
				}
			}
		})
		for _, m := range matrices {
			for _, b := range hostileBlocks(n) {
				each("Expm", func(call func(...any)) {
					call(m, b, func() error { _, _, err := g.Expm(ctx, -1, m, b, 0); return err })
				})
				each("Solve", func(call func(...any)) {
					call(m, b, func() error { _, _, err := g.Solve(ctx, m, 1, 1, b, 0); return err })
				})
			}
			one := mat.NewDense(n, 1, nil)
			one.Set(0, 0, 1)
			for _, x := range hostileNumbers {
				each("Expm", func(call func(...any)) {
					call(m, x, func() error { _, _, err := g.Expm(ctx, x, m, one, 0); return err })
				})
				each("Solve", func(call func(...any)) {
					call(m, x, 1., func() error { _, _, err := g.Solve(ctx, m, x, 1, one, 0); return err })
					call(m, 1., x, func() error { _, _, err := g.Solve(ctx, m, 1, x, one, 0); return err })
				})
			}
		}
		each("LabelledSide", func(call func(...any)) {
			for _, rows := range [][]int{nil, {0}, {-1}, {n}, {math.MaxInt}, slices.Repeat([]int{0}, 40)} {
				call(rows, func() error { _, err := g.LabelledSide(ctx, rows); return err })
			}
		})
		each("EachEdge", func(call func(...any)) {
			call(func() error { return g.EachEdge(ctx, func(heatwalk.Edge) error { return context.Canceled }) })
		})
		each("Plan", func(call func(...any)) { call(func() error { g.Plan(); return nil }) })
		each("Leave", func(call func(...any)) { call(func() error { g.Leave(-1, "").Plan(); return nil }) })
		each("With", func(call func(...any)) { call(func() error { g.With(-1, nil).Plan(); return nil }) })
		each("IDs", func(call func(...any)) { call(func() error { g.IDs(); return nil }) })
		each("Origin", func(call func(...any)) { call(func() error { g.Origin(); return nil }) })
		each("Close", func(call func(...any)) { call(g.Close) })
		methods := reflect.TypeFor[*heatwalk.Graph]()
		inner := methods.Elem().Field(0).Type // the embedded graph, whose methods take rows
		for i := range methods.NumMethod() {
			method := methods.Method(i).Name
			if _, isInner := inner.MethodByName(method); !isInner && !tried[method] {
				t.Errorf("%s has no hostile values", method)
			}
		}
	}
}

func TestHostileGraphs(t *testing.T) {
	ctx := t.Context()
	for name, open := range map[string]func(o *heatwalk.Options) (*heatwalk.Graph, error){
		"nil":      func(o *heatwalk.Options) (*heatwalk.Graph, error) { return heatwalk.FromMat(ctx, nil, o) },
		"no graph": func(o *heatwalk.Options) (*heatwalk.Graph, error) { return heatwalk.FromGraph(ctx, nil, o) },
		"empty":    func(o *heatwalk.Options) (*heatwalk.Graph, error) { return heatwalk.FromMat(ctx, &mat.Dense{}, o) },
		"no nodes": func(o *heatwalk.Options) (*heatwalk.Graph, error) {
			return heatwalk.FromGraph(ctx, simple.NewUndirectedGraph(), o)
		},
		"NaN": func(o *heatwalk.Options) (*heatwalk.Graph, error) {
			return heatwalk.FromMat(ctx, mat.NewDense(1, 1, []float64{math.NaN()}), o)
		},
		"square": func(o *heatwalk.Options) (*heatwalk.Graph, error) {
			return heatwalk.FromMat(ctx, mat.NewDense(1, 2, nil), o)
		},
		"window": func(*heatwalk.Options) (*heatwalk.Graph, error) {
			return heatwalk.FromMat(ctx, mat.NewDense(1, 1, nil), &heatwalk.Options{Edges: sides.Options{Since: "2024-01-01"}})
		},
	} {
		if _, err := open(nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDoorAgreesWithCommand(t *testing.T) {
	two := mat.NewDense(5, 5, nil)
	for _, e := range [][2]int{{0, 1}, {2, 3}, {3, 4}} {
		two.Set(e[0], e[1], 1)
		two.Set(e[1], e[0], 1)
	}
	for _, directed := range []bool{false, true} {
		m := mat.DenseCopyOf(two)
		if directed {
			m.Set(1, 0, 0)
		}
		g, err := heatwalk.FromMat(t.Context(), m, &heatwalk.Options{LargestComponent: true})
		if err != nil {
			t.Fatal(err)
		}
		if ids := g.IDs(); !slices.Equal(ids, []string{"2", "3", "4"}) || g.OmittedNodes != 2 || g.OmittedComponents != 1 || g.Directed != directed && directed {
			t.Errorf("nodes %v, omitted %d in %d", ids, g.OmittedNodes, g.OmittedComponents)
		}
		p, err := g.Classify(t.Context(), map[string]string{"2": "a", "4": "b", "3": ""}, &heatwalk.ClassifyOptions{Method: "lp:alpha=1"})
		if err != nil || slices.Contains(p.Classes, "") {
			t.Errorf("classes %q, %v", p.Classes, err)
		}
	}
	g, err := heatwalk.FromMat(t.Context(), two, nil)
	if err != nil {
		t.Fatal(err)
	}
	wrong := new(param.ParameterError)
	for option, err := range map[string]error{
		"values": func() error {
			_, err := g.Regress(context.Background(), map[string]float64{"0": math.NaN()}, "")
			return err
		}(),
		"seeds":  func() error { _, err := g.Rank(context.Background(), []string{"0", "0"}, "", 0); return err }(),
		"kernel": func() error { _, err := g.Rank(context.Background(), []string{"0"}, "cwk", 0); return err }(),
		"rows": func() error {
			_, _, err := g.Kernel(context.Background(), "diffusion", []string{}, nil, 0)
			return err
		}(),
		"method": func() error {
			_, err := g.Classify(context.Background(), map[string]string{"0": "a", "1": "b"}, &heatwalk.ClassifyOptions{Method: "majority,lp"})
			return err
		}(),
	} {
		if !errors.As(err, &wrong) || wrong.Parameter != option {
			t.Errorf("%s: %v", option, err)
		}
	}
}
