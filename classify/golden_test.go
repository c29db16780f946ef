package classify

import (
	"context"
	"fmt"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// A kernel in testdata/golden has values between all nodes and the training nodes, in training order.
type goldenCase struct {
	graph   string
	name    string // "diffusion_C0.1"
	cost    float64
	unique  bool // coefficients and thresholds are determined
	kernel  *sparse.Block[float64]
	train   []int
	y       []int
	classes int
}

func goldenCases(t *testing.T) []goldenCase {
	var cases []goldenCase
	for _, graph := range []string{"karate", "wrand60", "sbm300"} {
		g := testgraph.Load(t, graph)
		add := func(kernel string, k *sparse.Block[float64], costs ...float64) {
			for _, c := range costs {
				cases = append(cases, goldenCase{
					graph: graph, name: fmt.Sprintf("%s_C%.1f", kernel, c), cost: c, unique: kernel == "diffusion",
					kernel: k, train: g.Train, y: g.TrainClass, classes: len(g.Classes),
				})
			}
		}
		if graph == "sbm300" {
			add("diffusion", testgraph.Golden(t, graph+"/learner_K_columns.npy"), 1, 10)
		} else {
			add("diffusion", columns(testgraph.Golden(t, graph+"/learner_K.npy"), g.Train), 0.1, 1, 10, 100)
		}
		add("cwk", columns(walkKernel(g, 0.5, 10), g.Train), 1, 16)
	}
	return cases
}

func columns(k *sparse.Block[float64], cols []int) *sparse.Block[float64] {
	out := sparse.NewBlock[float64](k.Rows, len(cols))
	for i := range k.Rows {
		for j, c := range cols {
			out.Row(i)[j] = k.Row(i)[c]
		}
	}
	return out
}

func walkKernel(g testgraph.Graph, alpha float64, steps int) *sparse.Block[float64] {
	n, k := len(g.Nodes), len(g.Classes)
	p := sparse.NewBlock[float64](n, k)
	for i := range n {
		for c := range k {
			p.Row(i)[c] = 1 / float64(k)
		}
	}
	for s, i := range g.Train {
		clear(p.Row(i))
		p.Row(i)[g.TrainClass[s]] = 1
	}
	kernel := sparse.NewBlock[float64](n, n)
	for t := 0; ; t++ {
		for i := range n {
			for j := range n {
				kernel.Row(i)[j] += inner(p.Row(i), p.Row(j)) / float64(steps+1)
			}
		}
		if t == steps {
			return kernel
		}
		next := sparse.NewBlock[float64](n, k)
		g.A.DoNonZero(func(i, j int, v float64) { addScaled(next.Row(i), v/g.Degrees[i], p.Row(j)) })
		for i, d := range g.Degrees {
			if d == 0 {
				copy(next.Row(i), p.Row(i))
			}
		}
		for s, i := range g.Train {
			for c := range k {
				next.Row(i)[c] *= 1 - alpha
			}
			next.Row(i)[g.TrainClass[s]] += alpha
		}
		p = next
	}
}

func (c *goldenCase) gram() *denseGram[float64] {
	m := len(c.train)
	data := make([]float64, 0, m*m)
	for _, i := range c.train {
		data = append(data, c.kernel.Row(i)...)
	}
	return &denseGram[float64]{Rows: m, Cols: m, Stride: m, Data: data}
}

func fitGolden(t *testing.T, c *goldenCase, tolerance float64) (*Model, *sparse.Block[float64]) {
	t.Helper()
	svm := &SVM{Cost: c.cost, Tolerance: tolerance}
	m, err := svm.Fit(context.Background(), c.gram(), c.y, c.classes)
	if err != nil {
		t.Fatal(err)
	}
	decisions := sparse.BlockOf(c.kernel.Rows, len(m.Pairs), make([]float64, c.kernel.Rows*len(m.Pairs)))
	predicted := sparse.NewBlock[float64](c.kernel.Rows, 1)
	for i := range c.kernel.Rows {
		m.ScoresTo(decisions.Row(i), c.kernel.Row(i), 0)
		predicted.Row(i)[0] = float64(m.Pairs.Predict(decisions.Row(i)))
	}
	testgraph.Close(t, predicted, testgraph.Golden(t, c.graph+"/svm_"+c.name+"_predict.npy"), 0, 0)
	return m, decisions
}

func TestSVMGolden(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.graph+"/"+c.name, func(t *testing.T) {
			m, decisions := fitGolden(t, &c, 1e-10)
			file := func(what string) *sparse.Block[float64] {
				return testgraph.Golden(t, c.graph+"/svm_"+c.name+"_"+what+".npy")
			}
			testgraph.Close(t, decisions, file("decision"), 1e-6, 1e-6)
			n := len(m.Pairs)
			objective := sparse.NewBlock[float64](n, 1)
			rho := sparse.NewBlock[float64](n, 1)
			coef := sparse.NewBlock[float64](n, len(c.train))
			for i, k := range m.Machines {
				objective.Row(i)[0], rho.Row(i)[0] = k.Objective, k.Rho
				m.coefTo(coef.Row(i), i)
			}
			testgraph.Close(t, objective, file("objective"), 1e-6, 1e-6)
			if c.unique {
				testgraph.Close(t, rho, file("rho"), 1e-6, 1e-6)
				testgraph.Close(t, coef, file("coef"), 1e-6, 1e-6)
			}
		})
	}
}

// At the tolerance 1e-3, LIBSVM stops up to 3e-3 from the solution; steps and decisions agree up to its kernel values in
// single precision.
func TestSVMDefaultTolerance(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.graph+"/"+c.name, func(t *testing.T) {
			_, decisions := fitGolden(t, &c, 0)
			testgraph.Close(t, decisions, testgraph.Golden(t, "libsvm/"+c.graph+"_"+c.name+".npy"), 1e-6, 1e-6)
		})
	}
}

// Many items are shrunk, because the kernel knows few labels.
func TestSVMDefaultToleranceShrunk(t *testing.T) {
	g := testgraph.Load(t, "sbm300")
	b := walkKernel(g, 0.5, 10)
	k := &denseGram[float64]{Rows: b.Rows, Cols: b.Rows, Stride: b.Stride, Data: b.Data}
	for _, cost := range []float64{1, 100} {
		m := fit(t, &SVM{Cost: cost}, k, g.Labels, len(g.Classes))
		decisions := sparse.BlockOf(b.Rows, len(m.Pairs), make([]float64, b.Rows*len(m.Pairs)))
		for i := range b.Rows {
			m.ScoresTo(decisions.Row(i), b.Row(i), 0)
		}
		name := fmt.Sprintf("libsvm/sbm300_all_cwk_C%.1f.npy", cost)
		testgraph.Close(t, decisions, testgraph.Golden(t, name), 1e-6, 1e-6)
	}
}

func TestSVMGoldenFromFeatures(t *testing.T) {
	for _, graph := range []string{"karate", "wrand60"} {
		g := testgraph.Load(t, graph)
		b := testgraph.Golden(t, graph+"/cwk_F_a0.5_uniform_t10.npy")
		y := make([]int, len(g.Nodes))
		for i := range y {
			y[i] = -1
		}
		for s, i := range g.Train {
			y[i] = g.TrainClass[s]
		}
		for _, cost := range []float64{1, 16} {
			svm := &SVM{Cost: cost, Tolerance: 1e-10}
			m, err := svm.Fit(context.Background(), LinearGram(b), y, len(g.Classes))
			if err != nil {
				t.Fatal(err)
			}
			linear := LinearWeights(m, b)
			decisions := sparse.NewBlock[float64](b.Rows, len(m.Pairs))
			for i := range b.Rows {
				linear.ScoresTo(decisions.Row(i), b.Row(i), nil)
			}
			name := fmt.Sprintf("%s/svm_cwk_C%.1f_decision.npy", graph, cost)
			testgraph.Close(t, decisions, testgraph.Golden(t, name), 1e-6, 1e-6)
		}
	}
}
