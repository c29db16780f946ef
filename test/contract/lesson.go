package contract

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// GoldenGraphs are the graphs of testdata/golden with results of learners.
var GoldenGraphs = []string{"karate", "wrand60", "sbm300"}

// Lesson is a golden graph with a kernel between all its nodes. Training nodes come first, in training order.
type Lesson struct {
	Graph testgraph.Graph
	Name  string
	Node  []int // node of each item
	K     *sparse.Block[float64]
	Y     []int
}

// NewLesson uses the kernel of the golden files of learners.
func NewLesson(t *testing.T, graph string) *Lesson {
	t.Helper()
	g := testgraph.Load(t, graph)
	if graph != "sbm300" {
		return LessonOf(g, graph, testgraph.Golden(t, graph+"/learner_K.npy"))
	}
	// The kernel is exp(−3L̃). The golden file has only some of its columns.
	n := len(g.Nodes)
	a := mat.NewSymDense(n, nil)
	g.A.DoNonZero(func(i, j int, v float64) {
		if i <= j {
			a.SetSym(i, j, v/math.Sqrt(g.Degrees[i]*g.Degrees[j]))
		}
	})
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		t.Fatal("no eigenvalues")
	}
	var u, scaled, k mat.Dense
	eigen.VectorsTo(&u)
	values := eigen.Values(nil)
	scaled.Apply(func(_, q int, v float64) float64 { return v * math.Exp(3*(values[q]-1)) }, &u)
	k.Mul(&scaled, u.T())
	return LessonOf(g, graph, sparse.BlockOf(n, n, k.RawMatrix().Data))
}

// LessonOf returns the lesson of a kernel between the nodes of a graph.
func LessonOf(g testgraph.Graph, name string, k *sparse.Block[float64]) *Lesson {
	l := &Lesson{Graph: g, Name: name, Node: append([]int(nil), g.Train...)}
	trained := map[int]bool{}
	for _, i := range g.Train {
		trained[i] = true
	}
	for i := range g.Nodes {
		if !trained[i] {
			l.Node = append(l.Node, i)
		}
	}
	n := len(l.Node)
	l.K = sparse.BlockOf(n, n, make([]float64, n*n))
	l.Y = make([]int, n)
	for a, i := range l.Node {
		for b, j := range l.Node {
			l.K.Data[a*n+b] = k.Row(i)[j]
		}
		l.Y[a] = -1
		if a < len(g.Train) {
			l.Y[a] = g.TrainClass[a]
		}
	}
	return l
}

// Gram returns the kernel.
func (l *Lesson) Gram() classify.Gram { return classify.DenseGram(l.K) }

// Scores fits a learner to the training nodes and returns its scores of all nodes.
func (l *Lesson) Scores(t *testing.T, learner string, given param.Values) *sparse.Block[float64] {
	t.Helper()
	d := classify.Learners().Named(learner)
	v, err := d.Resolve(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Fit(context.Background(), l.Gram(), l.Y, len(l.Graph.Classes), v)
	if err != nil {
		t.Fatalf("%s on %s: %v", learner, l.Name, err)
	}
	scores := sparse.NewBlock[float64](len(l.Node), len(m.Pairs))
	for a, i := range l.Node {
		row := l.K.Row(a)
		m.ScoresTo(scores.Row(i), row, row[a])
	}
	return scores
}

// Golden reads a golden file of the graph.
func (l *Lesson) Golden(t *testing.T, format string, args ...any) *sparse.Block[float64] {
	t.Helper()
	return testgraph.Golden(t, l.Name+"/"+fmt.Sprintf(format, args...))
}
