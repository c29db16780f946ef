package engine

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

// MajorityClass returns the class that the classifiers of a held-out outcome predict, by the rule that also predicts nodes
// without a label.
func (j *Job) MajorityClass(o *choose.Outcome) int {
	if len(o.Pairs) == 0 {
		return o.Largest
	}
	scores := classify.SoftVotes(make([]float64, len(j.Problem.Names)), o.Pairs,
		o.Decisions, choose.VoteSlope)
	if j.Counted {
		choose.FavourVotes(scores, o.Pairs, o.Decisions)
	}
	return classify.ArgMax(scores)
}

// Hold returns the outcomes of held-out labels as predictions. decide returns the class of an outcome. Labels without
// classifiers get the shares of the classes as probabilities.
func (j *Job) Hold(outcomes []choose.Outcome, decide func(o *choose.Outcome) int) *choose.Held {
	held := new(choose.Held)
	shares := make([]float64, len(j.Problem.Names))
	prior := ClassShares.Distributions(j.Problem.Seeds())(0)
	for i := range outcomes {
		o := &outcomes[i]
		scores := prior
		if len(o.Pairs) > 0 {
			j.Share(shares, o.Pairs, o.Decisions)
			scores = shares
		}
		held.Add(o.Label, decide(o), !o.Unreached, scores)
	}
	return held
}

// AddAllVotes adds to the scores of all nodes the votes of the classifiers from pairs[lo] on, one for each column of
// decisions. After the last of pairs, it turns the sums of votes into scores.
func (j *Job) AddAllVotes(ctx context.Context, pairs classify.Pairs,
	decisions *sparse.Block[float64], lo int) error {
	last := lo+decisions.Cols == len(pairs)
	largest := choose.Majority(j.Problem.Class)
	return blocks.EachNodeChunk(ctx, j.Settings.Workers, decisions.Rows, func(_, start, end int) {
		vote := make([]float64, len(j.Problem.Names))
		for i := start; i < end; i++ {
			scores := j.Out.Scores.Row(i)
			if j.Learner.Probabilities != nil {
				j.Share(vote, pairs, decisions.Row(i))
				simd.ConvertTo(scores, vote)
				continue
			}
			j.addVotes(scores, pairs[lo:lo+decisions.Cols], decisions.Row(i), vote)
			var counts []uint8
			if j.Counts != nil {
				counts = j.Counts[i*len(vote):][:len(vote)]
				choose.CountVotes(counts, pairs[lo:lo+decisions.Cols],
					decisions.Row(i))
			}
			if last {
				j.finishVotes(scores, counts, vote, largest)
			}
		}
	})
}

// addVotes adds the votes of classifiers to sums. All one-vs-rest classifiers must be added in one call.
func (j *Job) addVotes(sums []float32, pairs classify.Pairs,
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

// Sums of votes that differ by less than undecided times the largest sum differ by rounding alone.
const undecided = 1e-6

// finishVotes replaces the sums of votes at a node by scores. If counts is not nil, the class with most votes gets the
// highest score. If all sums are equal, as where walks are too short to meet a label, the largest class gets a slightly
// higher score.
func (j *Job) finishVotes(sums []float32, counts []uint8, vote []float64,
	largest int) {
	simd.ConvertTo(vote, sums)
	equal := !j.Counted && slices.Min(vote) >= slices.Max(vote)*(1-undecided)
	j.Votes.ScoresTo(vote)
	if counts != nil {
		choose.Favour(vote, counts)
	}
	if equal {
		vote[largest] = slices.Max(vote) * (1 + undecided)
	}
	simd.ConvertTo(sums, vote)
}

// ShareAll stores as scores the probabilities of the classes at every node, see [Job.Share]. decisions returns the
// decisions on node i; row is scratch space for items numbers.
func (j *Job) ShareAll(ctx context.Context, outputs classify.Pairs, items int,
	decisions func(row []float64, i int) []float64) error {
	n := len(j.Problem.Degrees)
	k := len(j.Problem.Names)
	j.Out.Scores = blocks.NewDense[float32](n, k)
	if j.Settings.Raw && outputs[0].Negative == classify.Rest && len(outputs) == k {
		j.Out.Raw = blocks.NewDense[float64](n, k)
	}
	return blocks.EachNodeChunk(ctx, j.Settings.Workers, n, func(_, lo, hi int) {
		row := make([]float64, items)
		shares := make([]float64, k)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			d := decisions(row, i)
			if j.Out.Raw != nil {
				copy(j.Out.Raw.Row(i), d)
			}
			j.Share(shares, outputs, d)
			simd.ConvertTo(j.Out.Scores.Row(i), shares)
		}
	})
}

// Share stores in dst the probability of each class for decisions on a node, as [Job.VoteTo] does. If the learner has no
// probabilities, the class with most votes of one-vs-one classifiers gets the highest probability.
func (j *Job) Share(dst []float64, outputs classify.Pairs,
	decisions []float64) {
	j.VoteTo(dst, outputs, decisions)
	if j.Learner.Probabilities == nil {
		choose.FavourVotes(dst, outputs, decisions)
	}
}

// VoteTo stores in dst the probability of each class for decisions on a node. If the learner has no probabilities,
// [choose.Votes] fitted to held-out labels give them.
func (j *Job) VoteTo(dst []float64, outputs classify.Pairs,
	decisions []float64) {
	if j.Learner.Probabilities == nil {
		classify.SoftVotes(dst, outputs, decisions, choose.VoteSlope)
		j.Votes.ScoresTo(dst)
		return
	}
	probabilities := j.Learner.Probabilities(nil, decisions)
	clear(dst)
	for o, p := range outputs {
		dst[p.Positive] = probabilities[o]
	}
}

// FillClasses completes a prediction: the scores of nodes that no label reaches become the prior, nodes get their likeliest
// class if out has none, and labelled nodes get their label.
func FillClasses(out *Prediction, p *Problem, prior cwk.Prior) {
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
	SetKnown(out, p)
}

// SetKnown sets the predicted class of each labelled node to its label.
func SetKnown(out *Prediction, p *Problem) {
	for i, c := range p.Class {
		out.Class[p.Row[i]] = c
	}
}

// SpecOf returns the declaration of a learner on a walk or a kernel.
func SpecOf(l *classify.Learner) *param.Spec {
	if l.Path != nil {
		return &l.Path.Spec
	}
	return &l.Spec
}

// OnPath reports whether spec declares the path of a learner, see [classify.Path].
func OnPath(spec *param.Spec) bool {
	return slices.ContainsFunc(classify.Learners(),
		func(l *classify.Learner) bool { return l.Path != nil && spec == &l.Path.Spec })
}

func pairwise(l *classify.Learner, v param.Values) bool {
	return l.Path != nil && l.Path.Pairwise != nil && l.Path.Pairwise(v)
}

// mostPairwise is the largest number of classes whose votes can be counted in bytes.
const mostPairwise = 256

// LearnerSettings returns the settings of a learner to choose from, and the grid that they form. Defaults may depend on the
// number of classes. The error comes from [param.Spec.Resolve], or is a [choose.UsageError] if there are too many pairs of
// classes.
func LearnerSettings(s *Settings, l *classify.Learner,
	classes int) ([]param.Values, *choose.Space, error) {
	s = cmp.Or(s, new(Settings))
	spec := SpecOf(l)
	fixed := param.Values{}
	if l.Path != nil && l.Path.For != nil {
		maps.Copy(fixed, l.Path.For(classes))
	}
	maps.Copy(fixed, spec.Own(s.Given))
	settings, space, err := s.Grid(spec, fixed, nil)
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

// LimitMessage returns the message about a learner that stopped at its iteration limit.
func LimitMessage(l *classify.Learner) string {
	noun := "learning"
	if l.Path != nil {
		noun = cmp.Or(l.Path.Noun, noun)
	}
	return noun + " ended at the limit of its steps, before its tolerance"
}

// CountMachines returns the number of binary classifiers: one for each class, or one for each pair of classes.
func (j *Job) CountMachines() int {
	classes := len(j.Problem.Names)
	if pairwise(j.Learner, j.Values[0]) {
		return classes * (classes - 1) / 2
	}
	return classes
}

// CheckProcesses returns an error if the learner compares all nodes and several processes share the nodes.
func CheckProcesses(l *classify.Learner, p *Problem) error {
	if l.Whole && p.Team() != nil {
		return &problem.Error{Method: l.Name, Err: sparse.ErrDivided}
	}
	return nil
}

// MaxTestedRows is the largest number of test nodes of a tuning split for learners on kernels. A node has a row of values
// for every kernel of the grid.
const MaxTestedRows = 2000
