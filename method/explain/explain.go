package explain

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// ErrNoForm is the error of a method whose scores are not sums over labelled nodes.
var ErrNoForm = errors.New("its scores are no sums over labelled nodes")

// Form has the scores of a prediction as sums over labelled nodes, and the factors left and right of the importance of
// links, see the package comment.
type Form struct {
	// Terms returns the terms of the score of class[j] at nodes[j] for each j. Column j of the returned block is left for
	// nodes[j].
	Terms func(ctx context.Context, nodes, class []int) ([]Terms, *sparse.Block[float32], error)
	// Right returns right: the score of a class at a node, less the rest, in the units of left.
	Right func(node, class int) float64
	// The weight w of a link is A_ij/√(s_i·s_j) with s from Size, or A_ij if Size is nil. If A is nil, the matrix of the
	// problem is used.
	A    sparse.Matrix
	Size func(node int) float64
}

// Terms are the terms of the score of a class at a node.
type Terms struct {
	Score      []float64
	Rest       float64 // part of the score that no labelled node and no attribute has
	Share      []float64
	Attributes []Attribute
}

// AddAttribute adds a to the contribution of its column.
func (t *Terms) AddAttribute(a Attribute) {
	for i := range t.Attributes {
		if t.Attributes[i].Column == a.Column {
			t.Attributes[i].Share += a.Share
			return
		}
	}
	t.Attributes = append(t.Attributes, a)
}

// Explanation explains the predicted class of a node by the shares of labelled nodes in the score of the class. Its links
// are the edges that carry the difference to the next score. Score is the sum of all shares, contributions of attributes
// and Rest, to within Error.
type Explanation struct {
	Row   int `json:"-"`
	Class int `json:"-"`
	Other int `json:"-"` // class with the next score; −1: none

	Node        string  `json:"node"`
	Label       string  `json:"label"` // predicted; "": no label reaches the node
	Probability float64 `json:"probability"`
	Rival       string  `json:"rival,omitempty"` // label with the next score
	Score       float64 `json:"score"`

	Labels      []LabelShare     `json:"labels"`                 // largest share first
	OtherLabels int              `json:"other_labels"`           // number of labelled nodes that are not listed
	OtherShare  float64          `json:"other_share"`            // sum of the shares of nodes that are not listed
	Attributes  []Attribute      `json:"attributes,omitempty"`   // largest contribution first
	OtherWords  float64          `json:"other_attributes_share"` // sum of the contributions of attributes that are not listed
	Rest        float64          `json:"rest"`                   // part of the score that no labelled node and no attribute has
	Links       []LinkImportance `json:"links"`                  // most important first

	Sizes   float64 `json:"sizes"`   // sum of the absolute values of shares and contributions, large if they cancel
	Covered float64 `json:"covered"` // part of the score in shares and contributions, |Σ|/(|Σ| + |Rest|)
	Error   float64 `json:"error"`   // difference between the predicted score and the sum of all parts
}

// LabelShare is the share of a labelled node in a score.
type LabelShare struct {
	Position int     `json:"-"`
	Node     string  `json:"node"`
	Label    string  `json:"label"`
	Share    float64 `json:"share"`
}

// Attribute is the contribution of an attribute of a node to a score.
type Attribute struct {
	Column int     `json:"column"` // from 0 on
	Name   string  `json:"name,omitempty"`
	Share  float64 `json:"share"`
}

// LinkImportance is how much of the difference between the scores of Label and Rival passes through all edges between two
// nodes.
type LinkImportance struct {
	Rows       [2]int     `json:"-"`
	From       string     `json:"from"`
	To         string     `json:"to"`
	Kinds      []LinkKind `json:"kinds,omitempty"` // largest share first
	Importance float64    `json:"importance"`
}

// LinkKind has the edges of one kind between two nodes.
type LinkKind struct {
	Kind   string  `json:"kind,omitempty"`
	Weight float64 `json:"weight"`          // sum of weights without factors of kinds and times
	First  string  `json:"first,omitempty"` // first time
	Last   string  `json:"last,omitempty"`
	Share  float64 `json:"share"` // part of the importance of the link
}

// Settings are the settings of an explanation.
type Settings struct {
	Number   int                  // number of labelled nodes, attributes and links to list; 0: 10
	Workers  int                  // goroutines; 0: one for each processor
	ID       func(row int) string // id of a node; nil: nodes have none
	Progress func(stage string, done, total int64)
}

// Columns returns how many nodes are explained at a time on a graph of n nodes, one for each column of a block of 16 MB.
// It returns at least 32.
func Columns(n int) int { return max(32, (4<<20)/max(1, n)) }

// Workspace declares the memory of [Nodes] for the given number of nodes of a graph of n nodes.
func Workspace(n, classes, nodes int) budget.Workspace {
	return budget.Held(budget.Times(8*(6*classes+4*min(nodes, Columns(n))), int64(n)))
}

// Nodes explains the predicted class of each of nodes. f is the form of the prediction, and class has the predicted class
// of every node.
func Nodes(ctx context.Context, p *problem.Problem, f *Form, class, nodes []int,
	s *Settings) ([]Explanation, error) {
	set := *s
	set.Number = cmp.Or(set.Number, 10)
	if set.ID == nil {
		set.ID = func(int) string { return "" }
	}
	var list []Explanation
	report := func(done int) {
		if set.Progress != nil {
			set.Progress("explain", int64(done), int64(len(nodes)))
		}
	}
	report(0)
	for batch := range slices.Chunk(nodes, Columns(len(class))) {
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
			list = append(list, sum(p, &terms[i], v, classes[i], &set))
		}
		if err := addLinks(ctx, p, f, left, list[first:], &set); err != nil {
			return nil, err
		}
		report(len(list))
	}
	return list, nil
}

func sum(p *problem.Problem, t *Terms, v, class int, set *Settings) Explanation {
	e := Explanation{Row: v, Class: class, Other: -1, Node: set.ID(v),
		Label: p.Names[class], Score: t.Score[class], Labels: []LabelShare{},
		Links: []LinkImportance{}}
	for c, score := range t.Score {
		if c != class && (e.Other < 0 || score > t.Score[e.Other]) {
			e.Other = c
			e.Rival = p.Names[c]
		}
	}
	number := set.Number
	total := 0.0
	for i, share := range t.Share {
		if share != 0 {
			total += share
			e.Sizes += math.Abs(share)
			e.Labels = append(e.Labels,
				LabelShare{i, set.ID(p.Row[i]), p.Names[p.Class[i]], share})
		}
	}
	slices.SortStableFunc(e.Labels,
		func(a, b LabelShare) int { return cmp.Compare(b.Share, a.Share) })
	count := min(number, len(e.Labels))
	for _, l := range e.Labels[count:] {
		e.OtherShare += l.Share
		e.OtherLabels++
	}
	e.Labels = e.Labels[:count]
	e.Attributes = slices.SortedStableFunc(slices.Values(t.Attributes),
		func(a, b Attribute) int { return cmp.Compare(math.Abs(b.Share), math.Abs(a.Share)) })
	for i, a := range e.Attributes {
		total += a.Share
		e.Sizes += math.Abs(a.Share)
		if i >= number {
			e.OtherWords += a.Share
		}
	}
	e.Attributes = e.Attributes[:min(number, len(e.Attributes))]
	e.Rest = t.Rest
	if size := e.Sizes + math.Abs(e.Rest); !(size <= math.MaxFloat64) && e.Sizes > 0 { // beyond the range of numbers
		return sum(p, &Terms{Score: t.Score, Rest: e.Score}, v, class, set)
	}
	e.Error = math.Abs(e.Score - total - e.Rest)
	if size := math.Abs(total) + math.Abs(e.Rest); size > 0 {
		e.Covered = math.Abs(total) / size
	}
	return e
}

// rightResponses returns a column for each explanation: the score of its class less the score of the next class at every
// node, see [Form].Right. It divides this column and left by the square roots of the sizes of nodes. It also reports which
// rows of left are not 0.
func (f *Form) rightResponses(left *sparse.Block[float32], list []Explanation) (*sparse.Block[float32], []bool) {
	r := sparse.NewBlock[float32](left.Rows, left.Cols)
	isActive := make([]bool, left.Rows)
	for i := range left.Rows {
		step := 1.0
		if f.Size != nil {
			step /= math.Sqrt(max(f.Size(i), math.SmallestNonzeroFloat64))
		}
		for j, x := range left.Row(i) {
			left.Row(i)[j] = float32(step * float64(x))
			isActive[i] = isActive[i] || x != 0
		}
		for j, e := range list {
			right := f.Right(i, e.Class)
			if e.Other >= 0 {
				right -= f.Right(i, e.Other)
			}
			r.Row(i)[j] = float32(step * right)
		}
	}
	return r, isActive
}

// addLinks adds the most important links to explanations, in one sweep. It overwrites left, which has a column for each
// explanation.
func addLinks(ctx context.Context, p *problem.Problem, f *Form,
	left *sparse.Block[float32], list []Explanation, set *Settings) error {
	r, isActive := f.rightResponses(left, list)
	best := make([][][]LinkImportance, sched.Workers(set.Workers))
	for i := range best {
		best[i] = make([][]LinkImportance, len(list))
	}
	err := sparse.EachRow(ctx, cmp.Or(f.A, p.A), set.Workers, func(worker, i int, col []uint32, val []float64) error {
		top := best[worker]
		li := left.Row(i)
		ri := r.Row(i)
		for entry, c := range col {
			if int(c) <= i || !isActive[i] && !isActive[c] {
				continue
			}
			lj := left.Row(int(c))
			rj := r.Row(int(c))
			for k := range list {
				importance := float64(li[k]*rj[k]+lj[k]*ri[k]) * blocks.Factor(val, entry)
				if importance > 0 {
					link := LinkImportance{Rows: [2]int{i, int(c)},
						Importance: importance}
					top[k] = sched.KeepFirst(top[k], link, set.Number, byImportance)
				}
			}
		}
		return nil
	})
	for k := range list {
		for _, top := range best {
			for _, link := range top[k] {
				list[k].Links = sched.KeepFirst(list[k].Links, link, set.Number,
					byImportance)
			}
		}
		for i := range list[k].Links {
			l := &list[k].Links[i]
			l.From, l.To = set.ID(l.Rows[0]), set.ID(l.Rows[1])
		}
	}
	return err
}

func byImportance(a, b LinkImportance) int {
	return cmp.Or(cmp.Compare(b.Importance, a.Importance),
		slices.Compare(a.Rows[:], b.Rows[:]))
}
