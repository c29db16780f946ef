package beliefs

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/sparse"
)

// mostStates is the number of states that a run keeps for Form: that of the last rounds, and of a beginning.
const mostStates = 17

// linkRounds is the number of rounds whose messages links are listed for, because messages of early rounds were weaker.
const linkRounds = 4

// state is the state of a run at its beginning or after a round.
type state struct {
	beliefs *sparse.Block[float32]
	field   []float32 // log(f R)
	prior   []float32 // log shares
	shares  []float64 // of the classes of the remaining labels
	hidden  int       // the fold whose labels are left out; noFold: none
	begins  bool      // before the first round
}

// keepState keeps a copy of the state of a run that is explained.
func keepState(q *run, begins bool) {
	if !q.keeps {
		return
	}
	s := q.state
	s.beliefs = new(*q.beliefs)
	s.beliefs.Data = slices.Clone(q.beliefs.Data)
	s.field = slices.Clone(q.field)
	s.begins = begins
	if len(q.states) == mostStates {
		q.states = slices.Delete(q.states, 0, 1)
	}
	q.states = append(q.states, s)
}

// Form returns the scores of the beliefs of the last round as sums over labels, after [Model.Predict] with Explain. With
// the messages m_u = log(F_u R), the field h = log(f R) and the logits of the next round
//
//	z_v = b + t Σ_u A_vu (m_u − h)
//
// the score of a class is its logit less that of the class with the next one. Each step of a round is linear between the
// class shares π = softmax(b) and the beliefs that it led to, with the logarithmic mean L(x, y) = (x − y)/log(x/y):
//
//	softmax(z) − π = J (z − b),   J = D − D11ᵀD/(1ᵀD1),  D = diag L(softmax(z), π)
//	log(FR) − log(πR) = (F − π) R M⁻¹,  M = diag L(FR, πR)
//
// Form goes back through the rounds by these matrices. The message of a labelled node u, less the field, is multiplied by
// t Σ_v A_uv λ_v for the weight λ_v of z_v − b in the score: the sum over the rounds is its share. Rest is the prior, the
// messages of class shares, less the field, and the beliefs before the oldest state. All parts add up to the score but for
// rounding, which the error shows: the score is computed forward and the parts backward. Cost: two sweeps for each round.
func (m *Model) Form() *explain.Form {
	q := m.explained
	if q == nil {
		return nil
	}
	last := q.states[len(q.states)-1]
	f := &explain.Form{Width: q.seeds.Classes, Message: func(dst []float32, node int) {
		q.state = last
		messageTo(dst, q, node)
	}}
	f.Terms = func(ctx context.Context, nodes, class []int) ([]explain.Terms, *sparse.Block[float32], error) {
		q.state = last
		if err := q.sweep(ctx, q.logsTo, nil); err != nil {
			return nil, nil, err
		}
		k := q.seeds.Classes
		u := newUnrolled(q, len(nodes))
		for j, v := range nodes {
			row := slices.Clone(q.evidence.Row(v))
			q.takeLogits(v, row)
			score := make([]float64, k)
			simd.ConvertTo(score, row)
			rival := -1
			for c, z := range score {
				if c != class[j] && (rival < 0 || z > score[rival]) {
					rival = c
				}
			}
			lowest := score[rival]
			for c := range score {
				score[c] -= lowest
			}
			t := &u.terms[j]
			t.Score = score
			if seed := q.seedOf[v]; seed >= 0 {
				t.Share[seed] = score[class[j]]
				continue
			}
			t.Rest = float64(q.prior[class[j]] - q.prior[rival])
			u.logits.Row(v)[j*k+class[j]] = 1
			u.logits.Row(v)[j*k+rival] = -1
		}
		if err := u.unroll(ctx); err != nil {
			return nil, nil, err
		}
		for i := range u.total.Rows { // of weights that are not divided by their mean
			for j := range u.total.Cols {
				u.total.Row(i)[j] *= q.t / float32(q.unit)
			}
		}
		return u.terms, u.total, nil
	}
	return f
}

// messageTo stores log(F R) of a node less the field.
func messageTo(dst []float32, q *run, node int) {
	q.neighbourSharesTo(dst, q.beliefs.Row(node), 0)
	for c, e := range dst {
		dst[c] = log32(e) - q.field[c]
	}
}

// unrolled goes back through the rounds from the scores of some nodes. Its blocks have the columns of all classes for each of
// these nodes.
type unrolled struct {
	q       *run
	terms   []explain.Terms
	logits  *sparse.Block[float32] // λ, the weights of z − b
	sums    *sparse.Block[float32] // t A λ
	weights *sparse.Block[float32] // of F − π
	total   *sparse.Block[float32] // Σ λ of the last linkRounds rounds
	divides bool                   // a score has weights of beliefs
}

// newUnrolled returns the state after the last round, with blocks for all classes of the given
// number of nodes.
func newUnrolled(q *run, nodes int) *unrolled {
	rows := len(q.seedOf)
	columns := q.seeds.Classes * nodes
	u := &unrolled{
		q: q, terms: make([]explain.Terms, nodes),
		logits:  sparse.NewBlock[float32](rows, columns),
		sums:    chunks.Block[float32](rows, columns),
		weights: chunks.Block[float32](rows, columns),
		total:   sparse.NewBlock[float32](rows, columns),
	}
	for j := range u.terms {
		u.terms[j].Share = make([]float64, len(q.seeds.Row))
	}
	return u
}

// unroll goes back from the last state to the oldest one.
func (u *unrolled) unroll(ctx context.Context) error {
	for i := len(u.q.states) - 1; ; i-- {
		u.q.state = u.q.states[i]
		if err := u.q.op.StepTo(ctx, u.sums, u.logits,
			sparse.Step[float32]{Alpha: float64(u.q.t)}); err != nil {
			return err
		}
		later := len(u.q.states) - 1 - i
		if later < linkRounds {
			for k, w := range u.logits.Data {
				u.total.Data[k] += w
			}
		}
		if err := u.addMessages(ctx, later == 0); err != nil || !u.divides {
			return err
		}
		if i > 0 && u.q.states[i].begins { // with the beliefs of an earlier run
			shares := u.q.shares
			i--
			u.q.state = u.q.states[i]
			err := u.addRest(ctx,
				func(_, class int) float64 { return u.q.shares[class] - shares[class] })
			if err != nil {
				return err
			}
		}
		if i == 0 {
			return u.addRest(ctx,
				func(row, class int) float64 { return float64(u.q.beliefs.Row(row)[class]) - u.q.shares[class] })
		}
		u.q.beliefs = u.q.states[i-1].beliefs
		u.q.field = u.q.states[i-1].field
		if err := u.q.sweep(ctx, u.q.logsTo, nil); err != nil {
			return err
		}
		if err := u.passRound(ctx); err != nil {
			return err
		}
	}
}

// addRest adds the sums of values with the weights of beliefs to the rests.
func (u *unrolled) addRest(ctx context.Context,
	value func(row, class int) float64) error {
	k := u.q.seeds.Classes
	rests, err := chunks.Sums(ctx, nil, u.q.g.Workers, u.weights.Rows, len(u.terms), func(rests []float64, lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, w := range u.weights.Row(i) {
				if w != 0 {
					rests[j/k] += float64(w) * value(i, j%k)
				}
			}
		}
	})
	for j, sum := range rests {
		u.terms[j].Rest += sum
	}
	return err
}

// Sums over all nodes, for each node that is explained.
const (
	evenSum   = iota // of messages of class shares
	beliefSum        // of parts: F − π of a node times its weights
	grossSum         // of their sizes, and those of messages of labels
	largeSum         // 1 for each large part
	sumCount
)

// A part of a score that is less than leastPart of it, or of 1, is not divided further. A share that would exceed largestPart of
// it is not made: then other shares of that round, which cancel it, would be as large.
const (
	leastPart   = 1e-4
	largestPart = 5
)

// addMessages adds the messages of labels to the shares, those of class shares to the rests, and the weights of other
// messages to those of beliefs. The remainder of a score whose parts are all small or, except for the neighbours of the node,
// partly large is added to its rest.
func (u *unrolled) addMessages(ctx context.Context, isFirst bool) error {
	p := newParts(u)
	sums, err := chunks.Sums(ctx, nil, u.q.g.Workers, u.weights.Rows, sumCount*len(u.terms), func(total []float64, lo, hi int) {
		row := &partsOfRow{parts: p, total: total,
			message: make([]float32, len(p.even)), scaled: make([]float32, len(p.even)),
			product: make([]float32, len(p.even)),
			change:  make([]float64, len(p.even)), slope: make([]float64, len(p.even))}
		for i := lo; i < hi; i++ {
			switch {
			case isZero(u.sums.Row(i)) && isZero(u.weights.Row(i)):
			case u.q.known(i, u.q.hidden) >= 0:
				row.addLabel(i)
			default:
				row.addBelief(i)
			}
		}
	})
	u.divides = false
	for j := range u.terms {
		if p.addTo(j, sums[sumCount*j:sumCount*(j+1)], isFirst) {
			u.divides = true
			continue
		}
		k := len(p.even)
		for i := range u.weights.Rows {
			clear(u.weights.Row(i)[j*k : (j+1)*k])
		}
	}
	return err
}

// parts are the parts of the scores of all explained nodes that a round adds.
type parts struct {
	*unrolled
	even, logEven []float64 // πR and its logarithm
	direct        []float64 // messages of labels, in label·nodes + node
	sizes         []float64 // of the scores, at least 1
}

// newParts returns the parts of a round before any row is added.
func newParts(u *unrolled) *parts {
	k := u.q.seeds.Classes
	p := &parts{unrolled: u, even: make([]float64, k), logEven: make([]float64, k),
		direct: make([]float64, len(u.q.seeds.Row)*len(u.terms))}
	meansTo(p.even, u.q, u.q.shares)
	for c := range p.even {
		if u.q.ratios == nil {
			p.even[c] += 1 - u.q.strength
		}
		p.even[c] = max(p.even[c], leastMean)
		p.logEven[c] = math.Log(p.even[c])
	}
	for j := range u.terms {
		p.sizes = append(p.sizes, max(1, slices.Max(u.terms[j].Score)))
	}
	return p
}

// partsOfRow adds the parts of one row after the other to sums over rows. Each goroutine has its own.
type partsOfRow struct {
	*parts
	total                    []float64
	message, scaled, product []float32
	change, slope            []float64
}

// addLabel adds the message of a labelled node.
func (r *partsOfRow) addLabel(i int) {
	k := len(r.even)
	messageTo(r.message, r.q, i)
	shares := r.direct[int(r.q.seedOf[i])*len(r.terms):][:len(r.terms)]
	for j, w := range r.sums.Row(i) {
		shares[j/k] += float64(w) * float64(r.message[j%k])
	}
	for j, share := range shares {
		r.total[sumCount*j+grossSum] += math.Abs(share)
	}
	clear(r.weights.Row(i))
}

// addBelief adds the message of class shares at another node, and the weights of its belief.
func (r *partsOfRow) addBelief(i int) {
	k := len(r.even)
	for c, f := range r.q.beliefs.Row(i) {
		r.change[c] = float64(f) - r.q.shares[c]
	}
	meansTo(r.slope, r.q, r.change)
	for c, x := range r.slope {
		r.slope[c] = inverseMean(r.even[c], r.logEven[c], x)
	}
	weights := r.weights.Row(i)
	for j := range r.terms {
		total := r.total[sumCount*j : sumCount*(j+1)]
		flow := 0.0
		constant := 0.0 // of messages of class shares
		for c, w := range r.sums.Row(i)[j*k : (j+1)*k] {
			constant += float64(w) * (r.logEven[c] - float64(r.q.field[c]))
			r.scaled[c] = w * float32(r.slope[c])
		}
		total[evenSum] += constant
		ratiosTimes(r.product, r.q, r.scaled)
		for c, w := range r.product {
			weights[j*k+c] += w
			flow += float64(weights[j*k+c]) * r.change[c]
		}
		total[beliefSum] += flow
		total[grossSum] += math.Abs(flow)
		if math.Abs(flow) > largestPart*r.sizes[j] {
			total[largeSum]++
		}
	}
}

// addTo adds the parts of a round to the terms of explained node j, given their sums over all rows. It reports whether the
// parts of beliefs are to be divided by the round before; otherwise they are in the rest.
func (p *parts) addTo(j int, round []float64, isFirst bool) bool {
	t := &p.terms[j]
	isLarge := round[largeSum] > 0
	for seed, share := range t.Share {
		isLarge = isLarge || math.Abs(share+
			p.direct[seed*len(p.terms)+j]) > largestPart*p.sizes[j]
	}
	isLarge = isLarge && !isFirst
	t.Rest += round[evenSum]
	for seed := range t.Share {
		share := p.direct[seed*len(p.terms)+j]
		if isLarge {
			t.Rest += share
		} else {
			t.Share[seed] += share
		}
	}
	if isLarge || round[grossSum] < leastPart*p.sizes[j] {
		t.Rest += round[beliefSum]
		return false
	}
	return true
}

// isZero reports whether all elements of x are 0.
func isZero(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// meansTo stores x R, of homophily but for the same number for each class.
func meansTo(dst []float64, q *run, x []float64) {
	for c := range dst {
		if q.ratios == nil {
			dst[c] = float64(q.factors[c]) * x[c]
			continue
		}
		dst[c] = 0
		for i, r := range q.factors[c*len(x) : (c+1)*len(x)] {
			dst[c] += float64(r) * x[i]
		}
	}
}

// inverseMean returns the slope of log max(y, leastMean) between x ≥ leastMean, whose logarithm is logX, and x + change.
func inverseMean(x, logX, change float64) float64 {
	r := change / x
	switch {
	case math.Abs(r) < smallRatio:
		return (1 - r/2 + r*r/3) / x
	case x+change < leastMean:
		return (math.Log(leastMean) - logX) / change
	}
	return (math.Log(x+change) - logX) / change
}

// smallRatio is the ratio below which three terms of a series are more accurate than a quotient of two differences.
const smallRatio = 1e-4

// passRound passes the weights of beliefs to the logits and the beliefs of the round before. The evidence of that round is complete.
func (u *unrolled) passRound(ctx context.Context) error {
	k := u.q.seeds.Classes
	return chunks.Run(ctx, u.q.g.Workers, u.logits.Rows, func(_, lo, hi int) {
		// log(softmax(z)/π) and D
		ratio := make([]float64, k)
		mean := make([]float64, k)
		for i := lo; i < hi; i++ {
			logits := u.logits.Row(i)
			weights := u.weights.Row(i)
			if isZero(weights) {
				clear(logits)
				continue
			}
			evidence := u.q.evidence.Row(i)
			u.q.takeLogits(i, evidence)
			for c, z := range evidence {
				ratio[c] = float64(z - u.q.prior[c])
			}
			highest := slices.Max(ratio)
			sum := 0.0
			for c, share := range u.q.shares {
				mean[c] = share * math.Exp(ratio[c]-highest)
				sum += mean[c]
			}
			highest += math.Log(sum)
			size := 0.0
			for c, share := range u.q.shares {
				r := ratio[c] - highest
				if math.Abs(r) < smallRatio {
					mean[c] = share * (1 + r/2 + r*r/6)
				} else {
					mean[c] = (mean[c]/sum - share) / r
				}
				size += mean[c]
			}
			for j := 0; j < len(weights); j += k {
				center := 0.0
				for c, d := range mean {
					center += d * float64(weights[j+c])
				}
				for c, d := range mean {
					logits[j+c] = float32((1 -
						damping) * d * (float64(weights[j+c]) - center/size))
					weights[j+c] *= damping
				}
			}
		}
	})
}

// ratiosTimes stores R x, of homophily but for a constant, which softmax ignores.
func ratiosTimes(dst []float32, q *run, x []float32) {
	clear(dst)
	for c, v := range x {
		if q.ratios == nil {
			dst[c] = q.factors[c] * v
			continue
		}
		for i, r := range q.factors[c*len(x) : (c+1)*len(x)] {
			dst[i] += float32(r * v)
		}
	}
}
