package beliefs

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// newForm returns the form of the scores that follow from the last beliefs F of q. With the messages m_u = log(F_u R) and
// the field h = log(f R), see the package comment, the logits are
//
//	z_v = b + t Σ_u A_vu (m_u − h)
//
// and the score of a class is its logit less the largest logit of another class. The importance of a link of v is its term
// of the sum over u. Labelled nodes have no shares, because derivatives by single labels are small where neighbours are
// certain. Cost: a sweep.
func newForm(ctx context.Context, q *run) (*explain.Form, error) {
	rows := len(q.seedOf)
	k := q.seeds.Classes
	if err := q.sweep(ctx, q.logsTo, nil); err != nil {
		return nil, err
	}
	messages := sparse.NewBlock[float32](rows, k)
	err := blocks.EachNodeChunk(ctx, q.g.Workers, rows, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			q.takeLogits(i, q.evidence.Row(i))
			row := messages.Row(i)
			q.neighbourSharesTo(row, q.beliefs.Row(i), 0)
			for c, e := range row {
				row[c] = log32(e) - q.field[c]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	f := &explain.Form{Right: func(node, class int) float64 { return float64(messages.Row(node)[class]) }}
	f.Terms = func(_ context.Context, nodes, class []int) ([]explain.Terms, *sparse.Block[float32], error) {
		terms := make([]explain.Terms, len(nodes))
		left := sparse.NewBlock[float32](rows, len(nodes))
		for j, v := range nodes {
			score := make([]float64, k)
			simd.ConvertTo(score, q.evidence.Row(v))
			next := class[j]
			for c, z := range score {
				if c != class[j] && (next == class[j] || z > score[next]) {
					next = c
				}
			}
			lowest := score[next]
			for c := range score {
				score[c] -= lowest
			}
			terms[j] = explain.Terms{Score: score, Rest: score[class[j]]}
			if seed := q.seedOf[v]; seed >= 0 {
				terms[j].Share = make([]float64, len(q.seeds.Row))
				terms[j].Share[seed], terms[j].Rest = terms[j].Rest, 0
				continue
			}
			left.Row(v)[j] = q.t / float32(q.unit)
		}
		return terms, left, nil
	}
	return f, nil
}
