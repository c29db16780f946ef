package classify

import "github.com/heatwalk/heatwalk/sparse"

// Tree is a regression tree. Node 0 is its root.
type Tree struct {
	Nodes []TreeNode  `json:"nodes"`
	Sets  [][4]uint64 `json:"sets,omitempty"` // positions of the categories that go left, see [TreeNode.Set]
}

// TreeNode is a node of a [Tree]. An item with the number x in Column goes to node Left if x ≤ Cut, and otherwise to node
// Left + 1. An item with a category goes to node Left if the position of the category in [BoostedTrees.Categories] is in set
// Set. If the number is missing, the item goes to node Left if MissingLeft is set.
type TreeNode struct {
	Left        int32   `json:"left,omitempty"` // 0: the node is a leaf
	Column      int32   `json:"column,omitempty"`
	Set         int32   `json:"set,omitempty"` // number of the set in Tree.Sets, from 1; 0: Column has numbers
	Cut         float32 `json:"cut,omitempty"`
	MissingLeft bool    `json:"missing_left,omitempty"`

	// Value is the score of an item that ends here. At a node with children, it is the score that the node would have as a
	// leaf.
	Value float64 `json:"value"`
}

// BoostedTrees is a sum of trees for each output, see [Boosting]. It is the mean of several models:
//
//	score_o(x) = (1/models)·Σ_m (Base[m][o] + Σ_r Trees[m][r·outputs + o](x))
//
// It is safe for concurrent use.
type BoostedTrees struct {
	Loss       Loss        `json:"loss"`
	Columns    int         `json:"columns"`
	Classes    int         `json:"classes,omitempty"` // of [SoftmaxLoss]
	Class      []int       `json:"class,omitempty"`   // classes with items, of [SoftmaxLoss]
	Rounds     int         `json:"rounds"`
	Base       [][]float64 `json:"base"`
	Trees      [][]Tree    `json:"trees"`
	Categories [][]float32 `json:"categories,omitempty"` // increasing, by column; nil: numbers
}

// Models returns the number of models.
func (m *BoostedTrees) Models() int { return len(m.Base) }

// Outputs returns the number of scores of an item.
func (m *BoostedTrees) Outputs() int { return len(m.Base[0]) }

// next returns the child of n that an item with the columns x goes to.
func (m *BoostedTrees) next(t *Tree, n *TreeNode, x []float32) int32 {
	v := x[n.Column]
	var isLeft bool
	switch {
	case n.Set > 0:
		c := categoryOf(m.Categories[n.Column], v)
		isLeft = t.Sets[n.Set-1][c/64]>>(c%64)&1 != 0
	case v != v:
		isLeft = n.MissingLeft
	default:
		isLeft = v <= n.Cut
	}
	if isLeft {
		return n.Left
	}
	return n.Left + 1
}

func (m *BoostedTrees) valueOf(t *Tree, x []float32) float64 {
	n := &t.Nodes[0]
	if len(t.Sets) > 0 {
		for n.Left > 0 {
			n = &t.Nodes[m.next(t, n, x)]
		}
		return n.Value
	}
	for n.Left > 0 { // as next, without a branch for each number
		v := x[n.Column]
		child := n.Left
		if v > n.Cut {
			child++
		}
		if v != v && !n.MissingLeft {
			child++
		}
		n = &t.Nodes[child]
	}
	return n.Value
}

// AddModelTo adds to dst the scores of an item with the columns x by one of the models, times scale.
func (m *BoostedTrees) AddModelTo(dst []float64, x []float32, model int, scale float64) {
	if len(x) != m.Columns || len(dst) != m.Outputs() {
		panic(badLength)
	}
	for o := range dst {
		score := m.Base[model][o]
		for r := o; r < len(m.Trees[model]); r += len(dst) {
			score += m.valueOf(&m.Trees[model][r], x)
		}
		dst[o] += float64(scale * score)
	}
}

// AddModelRowsTo adds to each row of dst the scores of the item with the columns in the same row of x by one of the models,
// times scale, as AddModelTo does. It is faster than AddModelTo for each row: a tree stays in the cache of a processor while
// all rows pass through it. The rows of x must fit this cache too.
func (m *BoostedTrees) AddModelRowsTo(dst *sparse.Block[float64], x *sparse.Block[float32], model int, scale float64) {
	if x.Cols != m.Columns || dst.Cols != m.Outputs() || dst.Rows != x.Rows {
		panic(badLength)
	}
	scores := make([]float64, x.Rows)
	for o, base := range m.Base[model] {
		for i := range scores {
			scores[i] = base
		}
		for r := o; r < len(m.Trees[model]); r += dst.Cols {
			t := &m.Trees[model][r]
			for i := range scores {
				scores[i] += m.valueOf(t, x.Row(i))
			}
		}
		for i, score := range scores {
			dst.Row(i)[o] += float64(scale * score)
		}
	}
}

// ScoresTo stores the scores of an item with the columns x in dst, and returns dst. If dst is nil, ScoresTo allocates it.
func (m *BoostedTrees) ScoresTo(dst []float64, x []float32) []float64 {
	dst = destination(dst, m.Outputs())
	clear(dst)
	for model := range m.Base {
		m.AddModelTo(dst, x, model, 1/float64(m.Models()))
	}
	return dst
}

// PredictionTo stores in dst what scores predict, and returns dst: the probabilities of all classes with [SoftmaxLoss], of which
// classes without items have 0; the probability of each output with [LogisticLoss]; the scores with [SquaredLoss]. If dst is nil,
// PredictionTo allocates it.
func (m *BoostedTrees) PredictionTo(dst, scores []float64) []float64 {
	if m.Loss != SoftmaxLoss {
		dst = destination(dst, len(scores))
		copy(dst, scores)
		if m.Loss == LogisticLoss {
			for o, s := range dst {
				dst[o] = logistic(s)
			}
		}
		return dst
	}
	dst = destination(dst, m.Classes)
	clear(dst)
	switch len(m.Class) {
	case 0:
	case 1:
		dst[m.Class[0]] = 1
	case 2:
		dst[m.Class[0]] = logistic(-scores[0])
		dst[m.Class[1]] = logistic(scores[0])
	default:
		var room [64]float64
		p := Softmax(append(room[:0], scores...), scores)
		for o, c := range m.Class {
			dst[c] = p[o]
		}
	}
	return dst
}

// AddContributionsTo adds to dst how much each column of x adds to the score of an output by one of the models, times scale. It
// returns the rest of the score, times scale. The contribution of a column is the sum of the differences between the values
// of a child and of its parent over the paths of x, where the parent's condition is on the column (Saabas 2014).
func (m *BoostedTrees) AddContributionsTo(dst []float64, x []float32, model, output int, scale float64) float64 {
	if len(x) != m.Columns || len(dst) != m.Columns {
		panic(badLength)
	}
	rest := m.Base[model][output]
	for r := output; r < len(m.Trees[model]); r += m.Outputs() {
		t := &m.Trees[model][r]
		n := &t.Nodes[0]
		rest += n.Value
		for n.Left > 0 {
			child := &t.Nodes[m.next(t, n, x)]
			dst[n.Column] += float64(scale * (child.Value - n.Value))
			n = child
		}
	}
	return scale * rest
}

// scale multiplies the values of all trees by a factor.
func (m *BoostedTrees) scale(factor float64) {
	for _, list := range m.Trees {
		for _, t := range list {
			for i := range t.Nodes {
				t.Nodes[i].Value *= factor
			}
		}
	}
}
