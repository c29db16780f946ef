package auto

import (
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/internal/beliefs"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/trees"
)

// plan declares the features of a prediction, its memory, and the bytes of its temporary files.
type plan struct {
	design
	learning budget.Workspace // memory of the stages after beliefs
	memory   int64            // limit of the blocks of a stage; 0: none
	disk     int64

	isOver  bool     // learning exceeds the memory limit, in any process
	unfit   []string // stages that do not fit the memory limit
	missing int64    // memory that they need beyond the limit
}

// workspace declares the memory of [predict] in w, and the bytes of its temporary files in disk. The memory of components
// of the graph, of scores and of classes is not counted. If [predict] tries beliefs first, the memory of learning is
// optional, because beliefs may suffice.
func workspace(p *problem.Problem, set *settings) (w budget.Workspace, disk int64) {
	plan := newPlan(p, set)
	if !beginsWithBeliefs(p, set) {
		return plan.learning, plan.disk
	}
	w = beliefs.Workspace(len(p.Degrees), len(p.Names)).AndHeld(propagation.HeldOutBytes(p))
	if !plan.isOver {
		w.Optional = budget.AnyOf(plan.learning.Required(set.Memory), plan.learning.Enough())
	}
	return w, plan.disk
}

func keepsHighest(p *problem.Problem, set *settings) bool {
	d := designOf(p, set)
	return d.manyClasses && !d.propagation
}

// newPlan returns the plan of the stages that fit the memory limit, or of all stages, with isOver set, if those that may not be
// left out exceed it. A kept model needs the stages that it has learned from.
func newPlan(p *problem.Problem, set *settings) *plan {
	all := planOf(designOf(p, set), p, set)
	if !all.isOver {
		return all
	}
	all.missing = all.learning.Required(set.Memory) - set.Memory
	few := all.design
	for _, s := range optionalStages {
		*s.of(&few) = false
	}
	out := planOf(few, p, set)
	if out.isOver || set.choice != nil {
		return all
	}
	for _, s := range optionalStages {
		if !*s.of(&all.design) {
			continue
		}
		more := out.design
		*s.of(&more) = true
		if wider := planOf(more, p, set); wider.isOver {
			out.unfit = append(out.unfit, s.name)
		} else {
			wider.unfit = out.unfit
			out = wider
		}
	}
	out.missing = all.missing
	return out
}

// optionalStages are stages that may be left out, those that gain most first.
var optionalStages = []struct {
	name string
	of   func(*design) *bool
}{
	{"boosted trees", func(d *design) *bool { return &d.trees }},
	{"counts of neighbours", func(d *design) *bool { return &d.counts }},
	{"label propagation", func(d *design) *bool { return &d.propagation }},
	{"eigenvectors", func(d *design) *bool { return &d.spectral }},
	{"beliefs", func(d *design) *bool { return &d.beliefs }},
	{"link rows", func(d *design) *bool { return &d.links }},
	{"diffusion scores, common neighbours", func(d *design) *bool { return &d.diffusion }},
}

func planOf(d design, p *problem.Problem, set *settings) *plan {
	n := len(p.Degrees)
	k := len(p.Names)
	m := min(len(p.Row), d.examples+2*k) // a sample has at least two labels of each class
	scores := 2*boolean(d.diffusion) + boolean(d.spectral) + boolean(d.links) + boolean(d.counts)
	columns := 50 // columns that models need
	if d.manyClasses {
		columns = 15
	}
	column := int64(m) * int64(32+8*k)
	held := budget.AllOf(p.ArcsBytes(), 4*int64(n), budget.Block[float32](n, scores*k), 10*column)
	rows := budget.Block[float32](n, len(d.filters)*k) // rows of walks, and of attributes or their scores
	if p.Attributes != nil {
		rows += budget.Block[float32](n, min(k, p.Attributes.Cols))
	}
	if d.beliefs && p.Nodes() > blockModelNodes { // a fitted model is held
		held += beliefs.Workspace(n, k).Enough()
	}
	if d.trees {
		outputs := k
		if k == 2 {
			outputs = 1
		}
		held += trees.Workspace(p, treeLabels(p, set, d.folds), outputs, d.folds).Enough() + budget.Block[float32](n, k)
	}
	out := &plan{design: d}
	stages := d.stages(p, set).Or(budget.Held(int64(columns) * column))
	out.learning = stages.AndHeld(held, rows)
	if set.Memory > 0 && !set.Explain &&
		out.learning.Required(set.Memory) > set.Memory {
		out.disk = rows
		walk := budget.Slabs[float32](2, n, slabColumns)
		walk.Column += budget.Times(len(d.filters), 4*int64(n))   // sums of a slab, in one block
		walk.Fixed += budget.Times(max(0, d.folds-7), 8*int64(n)) // a class has a column for each fold and one more, beyond eight
		out.learning = stages.Or(walk.AndHeld(32 * int64(n))).AndHeld(held)
	} else {
		held += rows
	}
	out.memory = budget.Subtract(set.Memory, held)
	if set.Memory > 0 {
		over := []float64{float64(out.learning.Required(set.Memory) - set.Memory)}
		p.Team().Max(over)
		out.isOver = over[0] > 0
	}
	return out
}

// stages declares the memory of stages that run one after the other.
func (d *design) stages(p *problem.Problem, set *settings) budget.Workspace {
	n := len(p.Degrees)
	k := len(p.Names)
	labels := min(len(p.Row), max(set.mostLinkLabels(), mostKernelLabels)+2*k)
	squares := int64(labels) * int64(labels)
	w := budget.Slabs[float64](2, n, slabColumns).AndHeld(4 * 8 * int64(n))
	if d.diffusion {
		w = w.Or(budget.Held(budget.Times(max(6*squareColumns+20, 7*k), 8*int64(n)), 32*squares))
	}
	if d.spectral {
		w = w.Or(lanczos.Workspace(n, spectralPairs, 0).AndHeld(20*8*int64(n), budget.Block[float32](n, spectralPairs), 32*squares))
	}
	if d.links {
		w = w.Or(linkWorkspace(n, k))
	}
	if d.propagation {
		undirected := *p
		undirected.Directed = false
		w = w.Or(propagationOf(&undirected, set, set.Memory).CompareWorkspace())
	}
	if p.Attributes == nil {
		return w
	}
	columns := p.Attributes.Cols
	attributes := AttributeWorkspace(p, min(len(p.Row), labelLimit(columns)+2*k), k).AndHeld(
		240*int64(columns+1)*int64(k), 12*squares) // a word model takes more than ridges
	if d.counts {
		counts := countColumns(p)
		attributes = attributes.AndHeld(4*int64(len(p.Row))*int64(counts), budget.Block[float32](n, columns+3*counts+2*k))
	}
	return w.Or(attributes)
}

// propagationOf returns label propagation with a memory limit. It subtracts the memory of held-out scores from the limit,
// because these scores stay allocated.
func propagationOf(p *problem.Problem, set *settings,
	limit int64) *propagation.Propagation {
	return &propagation.Propagation{P: p, Alpha: 1,
		Memory: budget.Subtract(limit, propagation.HeldOutBytes(p)), Workers: set.Workers,
		Rough: true}
}

// AttributeWorkspace declares the memory of [Attributes], of its rows for the given number of nodes, and of its scores for
// the given number of targets.
func AttributeWorkspace(p *problem.Problem, nodes, targets int) budget.Workspace {
	n := p.Attributes.Rows
	columns := int64(p.Attributes.Cols)
	return budget.Slabs[float32](2*rankBlocks, n, slabColumns).AndHeld(32*int64(n), (200+8*slabColumns)*columns,
		24*min(rankValues, rankSample*columns), 8*int64(nodes)*columns, 3*budget.Block[float32](n, targets))
}
