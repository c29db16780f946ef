package method

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// majorityClass returns the class that the models of an outcome predict, as for nodes without a
// label.
func (j *job) majorityClass(o *choose.Outcome) int {
	if len(o.Pairs) == 0 {
		return o.Largest
	}
	scores := classify.SoftVotes(make([]float64, len(j.p.Names)), o.Pairs,
		o.Decisions, choose.VoteSlope)
	if j.counted {
		choose.FavourVotes(scores, o.Pairs, o.Decisions)
	}
	return classify.ArgMax(scores)
}

// addAllVotes adds the votes of the classifiers from number lo on to the scores of
// all nodes, and finishes these with the last classifier's.
func (j *job) addAllVotes(ctx context.Context, pairs classify.Pairs,
	decisions *sparse.Block[float64], lo int) error {
	last := lo+decisions.Cols == len(pairs)
	largest := choose.Majority(j.p.Class)
	return blocks.EachNodeChunk(ctx, j.set.Workers, decisions.Rows, func(_, start, end int) {
		vote := make([]float64, len(j.p.Names))
		for i := start; i < end; i++ {
			scores := j.out.Scores.Row(i)
			if j.learner.Probabilities != nil {
				j.share(vote, pairs, decisions.Row(i))
				simd.ConvertTo(scores, vote)
				continue
			}
			j.addVotes(scores, pairs[lo:lo+decisions.Cols], decisions.Row(i), vote)
			var counts []uint8
			if j.counts != nil {
				counts = j.counts[i*len(vote):][:len(vote)]
				choose.CountVotes(counts, pairs[lo:lo+decisions.Cols],
					decisions.Row(i))
			}
			if last {
				j.finishVotes(scores, counts, vote, largest)
			}
		}
	})
}

// addVotes adds the votes of classifiers to sums. Those of
// one against the rest come all at once.
func (j *job) addVotes(sums []float32, pairs classify.Pairs,
	decisions, vote []float64) {
	if pairs[0].Negative == classify.Rest {
		simd.ConvertTo(sums, classify.SoftVotes(vote, pairs, decisions,
			choose.VoteSlope))
		return
	}
	for m, pair := range pairs {
		classify.SoftVotes(vote, pairs[m:m+1], decisions[m:m+1], choose.VoteSlope)
		sums[pair.Positive] += float32(vote[pair.Positive])
		sums[pair.Negative] += float32(vote[pair.Negative])
	}
}

// undecided is by how much, relative to the highest, sums of votes differ by rounding
// alone.
const undecided = 1e-6

// finishVotes turns sums of votes and, unless they are nil, counts of votes into scores. A walk
// that is too short to meet a label from a node gives no information on it: if all sums are
// equal, the largest class receives a slightly higher score.
func (j *job) finishVotes(sums []float32, counts []uint8, vote []float64,
	largest int) {
	simd.ConvertTo(vote, sums)
	equal := !j.counted && slices.Min(vote) >= slices.Max(vote)*(1-undecided)
	j.votes.ScoresTo(vote)
	if counts != nil {
		choose.Favour(vote, counts)
	}
	if equal {
		vote[largest] = slices.Max(vote) * (1 + undecided)
	}
	simd.ConvertTo(sums, vote)
}

// shareAll stores as scores the probabilities that follow from the decisions of a learner on every
// node. Each call of decisions receives scratch space for the given number of items.
func (j *job) shareAll(ctx context.Context, outputs classify.Pairs, items int,
	decisions func(row []float64, i int) []float64) error {
	n := len(j.p.Degrees)
	k := len(j.p.Names)
	j.out.Scores = blocks.NewDense[float32](n, k)
	if j.set.Raw && outputs[0].Negative == classify.Rest && len(outputs) == k {
		j.out.Raw = blocks.NewDense[float64](n, k)
	}
	return blocks.EachNodeChunk(ctx, j.set.Workers, n, func(_, lo, hi int) {
		row := make([]float64, items)
		shares := make([]float64, k)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			d := decisions(row, i)
			if j.out.Raw != nil {
				copy(j.out.Raw.Row(i), d)
			}
			j.share(shares, outputs, d)
			simd.ConvertTo(j.out.Scores.Row(i), shares)
		}
	})
}

// share stores the probabilities that a learner's decisions stand for: its own, or those
// that its decisions out of fold fit.
func (j *job) share(dst []float64, outputs classify.Pairs,
	decisions []float64) {
	if j.learner.Probabilities == nil {
		classify.SoftVotes(dst, outputs, decisions, choose.VoteSlope)
		j.votes.ScoresTo(dst)
		choose.FavourVotes(dst, outputs, decisions)
		return
	}
	probabilities := j.learner.Probabilities(nil, decisions)
	clear(dst)
	for o, p := range outputs {
		dst[p.Positive] = probabilities[o]
	}
}

// fillClasses stores the prior as scores of nodes that no label reaches, the likeliest class of each node unless classes are
// stored already, and the classes of labelled nodes.
func fillClasses(out *Prediction, p *Problem, prior cwk.Prior) {
	n := p.Rows()
	row := make([]float32, len(p.Names))
	shares := prior.Distributions(p.Seeds())
	largest := choose.Majority(p.Class)
	isClassified := out.Class != nil
	if !isClassified {
		out.Class = make([]int, n)
	}
	for i := range n {
		switch isReached := out.Reached.Contains(uint32(i)); {
		case !isReached && out.Highest != nil:
			simd.ConvertTo(row, shares(i))
			out.Highest.Set(i, row)
			out.Class[i] = prior.Likeliest(i, largest)
		case !isReached:
			simd.ConvertTo(out.Scores.Row(i), shares(i))
			out.Class[i] = prior.Likeliest(i, largest)
		case isClassified:
		case out.Highest != nil:
			out.Class[i] = out.Highest.Class(i)
		default:
			out.Class[i] = classify.ArgMax(out.Scores.Row(i))
		}
	}
	setKnown(out, p)
}

// setKnown gives labelled nodes their own classes.
func setKnown(out *Prediction, p *Problem) {
	for i, c := range p.Class {
		out.Class[p.Row[i]] = c
	}
}

// specOf returns the declaration whose parameters a learner on a walk or a kernel receives.
func specOf(l *classify.Learner) *param.Spec {
	if l.Path != nil {
		return &l.Path.Spec
	}
	return &l.Spec
}

// onPath reports whether a declaration is that of a path.
func onPath(spec *param.Spec) bool {
	return slices.ContainsFunc(classify.Learners(),
		func(l *classify.Learner) bool { return l.Path != nil && spec == &l.Path.Spec })
}

// pairwise reports whether there is a machine for every two classes.
func pairwise(l *classify.Learner, v param.Values) bool {
	return l.Path != nil && l.Path.Pairwise != nil && l.Path.Pairwise(v)
}

// mostPairwise is the largest number of classes whose votes fit into bytes.
const mostPairwise = 256

// learnerSettings returns the settings of a learner to choose from, complete, and their space. Values that a path has for the
// number of classes replace its defaults: a thousand classes have half a million pairs. The error is that of
// [param.Spec.Resolve], or a [choose.UsageError] for classifiers for every two of very many classes.
func learnerSettings(s *Settings, l *classify.Learner,
	classes int) ([]param.Values, *choose.Space, error) {
	spec := specOf(l)
	fixed := param.Values{}
	if l.Path != nil && l.Path.For != nil {
		maps.Copy(fixed, l.Path.For(classes))
	}
	maps.Copy(fixed, spec.Own(s.Given))
	settings, space, err := s.grid(spec, fixed, nil)
	if err != nil {
		return nil, nil, err
	}
	if classes > mostPairwise && pairwise(l, settings[0]) {
		return nil, nil, choose.Usage("machines for every two of %d classes are too many; take one-vs-rest", classes)
	}
	for i := range space.Axes {
		space.Axes[i].Falling = l.Path != nil && l.Path.Ridge
	}
	return settings, space, nil
}

// limitMessage is the message for a learner that ended at its iteration limit.
func limitMessage(l *classify.Learner) string {
	noun := "learning"
	if l.Path != nil {
		noun = cmp.Or(l.Path.Noun, noun)
	}
	return noun + " ended at the limit of its steps, before its tolerance"
}

// countMachines returns the number of binary classifiers, and whether each separates one class from the rest.
func (j *job) countMachines() (machines int, isRest bool) {
	classes := len(j.p.Names)
	if pairwise(j.learner, j.values[0]) {
		return classes * (classes - 1) / 2, false
	}
	return classes, true
}

// checkProcesses refuses a learner that compares all nodes with each other if several processes share them.
func checkProcesses(l *classify.Learner, p *Problem) error {
	if l.Whole && p.Team() != nil {
		return &problem.Error{Method: l.Name, Err: sparse.ErrDivided}
	}
	return nil
}

// maxTestedRows bounds the test nodes of a tuning split for learners on kernels: each
// has a row of values for every kernel of the grid.
const maxTestedRows = 2000
