package explain

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/ranked"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// ErrNoForm is the error of a method whose scores are no sums over labelled nodes.
var ErrNoForm = errors.New("its scores are no sums over labelled nodes")

// Form is the scores of a prediction as sums over labelled nodes.
type Form struct {
	// Terms returns the terms of the score of a class of each of some nodes, and the left responses: one column
	// for each node.
	Terms func(ctx context.Context, nodes, class []int) ([]Terms, *sparse.Block[float32], error)
	// Right returns the score of a class at a node without its rest, in the units of the left responses.
	Right func(node, class int) float64
	// If Width is not 0, responses are vectors: a node has Width columns of left responses, and in place of Right there is
	// Message, which stores the right response of a node.
	Width   int
	Message func(dst []float32, node int)
	// A step between i and j has the weight A_ij, divided by √(d_i·d_j) if Normalized is true. A nil A is the matrix of the
	// problem.
	A          sparse.Matrix
	Normalized bool
}

// Terms are the terms of the score of a class of a node.
type Terms struct {
	Score      []float64   // of each class, as the prediction has computed it
	Rest       float64     // the part of the score of the class that no labelled node and no attribute has
	Share      []float64   // of each labelled node
	Attributes []Attribute // contributions of attributes of the node
}

// Explanation has the reasons for the score of the predicted class of a node.
type Explanation struct {
	Node  int
	Class int     // the predicted class
	Rival int     // the other class with the highest score
	Score float64 // of Class

	Labels     []Label     // largest share first
	Others     float64     // sum of the shares of all other labelled nodes
	Count      int         // number of other labelled nodes with a share
	Attributes []Attribute // largest contribution first
	Unlisted   float64     // sum of the contributions of other attributes
	Rest       float64     // Score less all shares and contributions
	Links      []Link      // most important first

	// Covered is the part of the score that shares and contributions cover, |Σ|/(|Σ| + |Rest|), and Error
	// the difference between the score of the prediction and the sum of all parts.
	Covered, Error float64
}

// Label is the share of a labelled node in a score.
type Label struct {
	Label int // position among the labels
	Share float64
}

// Attribute is the contribution of an attribute of a node to a score.
type Attribute struct {
	Column int
	Share  float64
}

// Link is the importance of the link between two nodes.
type Link struct {
	From, To   int
	Importance float64
}

// Settings of an explanation.
type Settings struct {
	Number   int // labelled nodes, attributes and links to list for each node; 0: 10
	Workers  int // goroutines; 0: one for each processor
	Progress func(stage string, done, total int64)
}

// Columns is the number of nodes that are explained in the same sweeps.
const Columns = 16

// Bytes returns the memory of explanations on a graph of n nodes: the scores of all classes, blocks of responses, and those of
// a solve.
func Bytes(n, classes int) int64 { return int64(n) * 8 * (4*int64(classes) + 8*Columns) }

// Nodes explains the predicted classes of some nodes. class has the predicted class of every node.
func Nodes(ctx context.Context, p *problem.Problem, f *Form, class, nodes []int, s *Settings) ([]Explanation, error) {
	set := *s
	set.Number = cmp.Or(set.Number, 10)
	var list []Explanation
	for batch := range slices.Chunk(nodes, max(1, Columns/max(1, f.Width))) {
		classes := make([]int, len(batch))
		for i, v := range batch {
			classes[i] = class[v]
		}
		terms, left, err := f.Terms(ctx, batch, classes)
		if err != nil {
			return nil, err
		}
		first := len(list)
		for i, v := range batch {
			list = append(list, sum(&terms[i], v, classes[i], set.Number))
		}
		if err := addLinks(ctx, p, f, left, list[first:], &set); err != nil {
			return nil, err
		}
		if set.Progress != nil {
			set.Progress("explain", int64(len(list)), int64(len(nodes)))
		}
	}
	return list, nil
}

// sum adds up the terms of node v.
func sum(t *Terms, v, class, number int) Explanation {
	e := Explanation{Node: v, Class: class, Rival: -1, Score: t.Score[class]}
	for c, score := range t.Score {
		if c != class && (e.Rival < 0 || score > t.Score[e.Rival]) {
			e.Rival = c
		}
	}
	total := 0.0
	for i, share := range t.Share {
		if share != 0 {
			total += share
			e.Labels = append(e.Labels, Label{i, share})
		}
	}
	slices.SortStableFunc(e.Labels, func(a, b Label) int { return cmp.Compare(b.Share, a.Share) })
	for _, l := range e.Labels[min(number, len(e.Labels)):] {
		e.Others += l.Share
		e.Count++
	}
	e.Labels = e.Labels[:min(number, len(e.Labels))]
	e.Attributes = slices.SortedStableFunc(slices.Values(t.Attributes), func(a, b Attribute) int { return cmp.Compare(math.Abs(b.Share), math.Abs(a.Share)) })
	for i, a := range e.Attributes {
		if total += a.Share; i >= number {
			e.Unlisted += a.Share
		}
	}
	e.Attributes = e.Attributes[:min(number, len(e.Attributes))]
	e.Rest = t.Rest
	e.Error = math.Abs(e.Score - total - e.Rest)
	if size := math.Abs(total) + math.Abs(e.Rest); size > 0 {
		e.Covered = math.Abs(total) / size
	}
	return e
}

// addLinks adds the most important links to explanations. left has a column for each. Cost: one sweep.
func addLinks(ctx context.Context, p *problem.Problem, f *Form, left *sparse.Block[float32], list []Explanation, set *Settings) error {
	n, width := left.Rows, max(1, f.Width)
	l, r := sparse.NewBlock[float32](n, left.Cols), sparse.NewBlock[float32](n, left.Cols)
	for i := range n {
		step := 1.0
		if f.Normalized {
			step /= math.Sqrt(max(p.Degrees[i], math.SmallestNonzeroFloat64))
		}
		for j, x := range left.Row(i) {
			l.Row(i)[j] = float32(step * float64(x))
		}
		for j, e := range list {
			if f.Width > 0 {
				f.Message(r.Row(i)[j*width:(j+1)*width], i)
				continue
			}
			right := f.Right(i, e.Class)
			if e.Rival >= 0 {
				right -= f.Right(i, e.Rival)
			}
			r.Row(i)[j] = float32(step * right)
		}
	}
	best := make([][][]Link, sched.Workers(set.Workers))
	for i := range best {
		best[i] = make([][]Link, len(list))
	}
	err := cmp.Or(f.A, p.A).Sweep(ctx, set.Workers, func(worker int, panel sparse.Panel) error {
		top := best[worker]
		for i := panel.Lo; i < panel.Hi; i++ {
			col, val := panel.Row(i - panel.Lo)
			li, ri := l.Row(i), r.Row(i)
			for entry, c := range col {
				if int(c) <= i {
					continue
				}
				lj, rj := l.Row(int(c)), r.Row(int(c))
				for k := range list {
					var importance float32
					for column := k * width; column < (k+1)*width; column++ {
						importance += li[column]*rj[column] + lj[column]*ri[column]
					}
					if importance > 0 {
						link := Link{i, int(c), float64(importance)}
						if val != nil {
							link.Importance *= val[entry]
						}
						top[k] = ranked.Insert(top[k], link, set.Number, byImportance)
					}
				}
			}
		}
		return nil
	})
	for k := range list {
		for _, top := range best {
			for _, link := range top[k] {
				list[k].Links = ranked.Insert(list[k].Links, link, set.Number, byImportance)
			}
		}
	}
	return err
}

// byImportance compares links: the more important one comes first, of equal ones the first in the order of the nodes.
func byImportance(a, b Link) int {
	return cmp.Or(cmp.Compare(b.Importance, a.Importance), a.From-b.From, a.To-b.To)
}
