package beliefs

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Messages has what a new node needs of beliefs F. Its belief is the softmax of log prior + t·Σ_u w·(m_u − log fR), for the messages
// m_u = log(F_u·R) of its neighbours and weights w in units of their mean.
type Messages struct {
	Factors  []float32 `json:"factors"`            // see run.factors
	Strength float64   `json:"strength,omitempty"` // of homophily; 0: factors have all ratios
	T        float32   `json:"t"`
	Field    []float32 `json:"field"`
	Shares   []float64 `json:"shares"`
	Unit     float64   `json:"unit"`
	Sharpen  float64   `json:"sharpen"`
	Blend    float64   `json:"blend"`

	Values *sparse.Block[float32] `json:"-"` // message of each node
}

// messages returns the messages of the beliefs of q.
func (m *Model) messages(ctx context.Context, q *run) (*Messages, error) {
	out := &Messages{Factors: q.factors, T: q.t, Field: q.field, Shares: q.shares, Unit: q.unit, Sharpen: m.Sharpen, Blend: m.Blend,
		Strength: q.strength, Values: sparse.NewBlock[float32](q.beliefs.Rows, q.beliefs.Cols)}
	return out, blocks.EachNodeChunk(ctx, q.g.Workers, q.beliefs.Rows, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			q.messageTo(out.Values.Row(i), q.beliefs.Row(i), 0)
		}
	})
}

// messageTo stores log(f·R) of the classes from first on.
func (q *run) messageTo(dst, f []float32, first int) {
	q.neighbourSharesTo(dst, f, first)
	for j, e := range dst {
		dst[j] = log32(e)
	}
}

// IsValid reports whether the lengths of all fields fit k classes.
func (m *Messages) IsValid(k int) bool {
	factors := k * k
	if m.Strength > 0 {
		factors = k
	}
	return len(m.Shares) == k && len(m.Field) == k && len(m.Factors) == factors && m.Unit > 0
}

// Step returns a function that stores the message of a new node in message and its probabilities in dst. mean is the weighted mean
// of the messages of its neighbours and degree the sum of their weights. If no label reaches them, probabilities are shares.
func (m *Messages) Step() func(message []float64, dst []float32, mean []float64, degree float64, isReached bool) {
	q := &run{network: &network{g: &graph.Graph{Degrees: []float64{0}}, unit: m.Unit}, t: m.T, field: m.Field,
		prior: logsOf(m.Shares), factors: m.Factors, strength: m.Strength}
	evidence := make([]float32, len(m.Shares))
	return func(message []float64, dst []float32, mean []float64, degree float64, isReached bool) {
		q.g.Degrees[0] = degree
		for j, x := range mean {
			evidence[j] = float32(degree / m.Unit * x)
		}
		q.takeLogits(0, evidence)
		sum := exponentials(evidence)
		for j := range evidence {
			evidence[j] /= sum
		}
		copy(dst, evidence)
		q.messageTo(evidence, dst, 0)
		for j, x := range evidence {
			message[j] = float64(x)
		}
		if isReached {
			temper(dst, dst, m.Sharpen, m.Blend, m.Shares)
			return
		}
		for c, share := range m.Shares {
			dst[c] = float32(share)
		}
	}
}

// exponentials replaces logits z by exp(z − max z) and returns their sum.
func exponentials(logits []float32) (sum float32) {
	highest := slices.Max(logits)
	for j, e := range logits {
		logits[j] = exp32(e - highest)
		sum += logits[j]
	}
	return sum
}
