package auto

import (
	"github.com/heatwalk/heatwalk/internal/ridge"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// attributeBlocks returns the number of blocks, at the most: only the values tell
// whether few attributes are real numbers.
func attributeBlocks(p *problem.Problem) int {
	if d := p.Attributes.Cols; d <= fewAttributes {
		return 4
	}
	return 3
}

// attributeKept lists what a prediction with attributes holds to its end.
func attributeKept(p *problem.Problem, set *Settings) []spec.Bytes {
	n, m, k, blocks := len(p.Degrees), len(p.Row), len(p.Names), attributeBlocks(p)
	rows := 1
	if m <= nestedLabels {
		rows += validate.FoldCount(m)
	}
	return []spec.Bytes{
		{What: "scores of attributes", Bytes: int64(blocks) * piece.Bytes[float32](n, k)},
		{What: "scores of labels without them", Bytes: int64(rows*m) * int64(24+8*blocks*k)},
		{What: "what models take of labels", Bytes: piece.Bytes[float64](m, (sharedCount(relates(p, set))+blocks)*k)},
		{What: "nodes with attributes", Bytes: 8 * int64(p.Attributes.Present)},
	}
}

// attributeSweeps lists what is held while attributes are swept in slabs of so many
// columns, and while ridges learn from them.
func attributeSweeps(p *problem.Problem, columns, workers int) (sweeps, ridges []spec.Bytes) {
	n, d := p.Attributes.Rows, p.Attributes.Cols
	k := len(p.Names)
	views := mostViews - 1 // without the last hop of few real numbers
	features := (views - 1) * d
	if d <= fewAttributes {
		views, features = mostViews, max(mostHops*d, unitFeatures(n, d))
	}
	shown := len(shownLabels(p, features, 0))
	kept := []spec.Bytes{
		{What: "units of attributes", Bytes: attributeTableBytes(n, d) + lensBytes(n, d)},
		{What: "attributes of labels", Bytes: int64(views) * piece.Bytes[float32](shown, d)},
	}
	slabs := lensSlabBytes(n, max(columns, k))
	if d <= fewAttributes {
		inputs, count := unitInputs(d), unitCount(n)
		kept = append(kept, spec.Bytes{What: "units of all nodes", Bytes: piece.Bytes[float32](n, inputs+count) + 4*int64(count)*int64(inputs+2*count)})
		slabs = max(slabs, lensSlabBytes(n, d))
	}
	parts := 0
	if len(p.Row) <= min(nestedLabels, shown) {
		parts = validate.FoldCount(len(p.Row))
	}
	sweeps = append(sweeps, kept...)
	sweeps = append(sweeps,
		spec.Bytes{What: "slabs of attributes", Bytes: slabs, Row: 4 * sparse.Stride[float32](max(columns, k))},
		spec.Bytes{What: "products of slabs", Bytes: int64(sched.Workers(workers)) * 4 * int64(d) * (productGroup + 1)},
	)
	ridges = append(ridges, kept...)
	ridges = append(ridges, spec.Bytes{What: "features and weights of a ridge", Bytes: piece.Bytes[float32](shown, features) + 2*piece.Bytes[float32](features, k)})
	return sweeps, append(ridges, ridge.Memory(shown, features, k, parts)...)
}

// mostViews and mostHops bound the views of attributes, and those of one block.
const (
	mostViews = int(firstHop) + 3
	mostHops  = mostViews - 1
)

// slabWidth returns how many columns are swept together within a limit, 0 for none.
func slabWidth(p *problem.Problem, limit int64, workers int) int {
	for columns := slabColumns; ; columns /= 2 {
		sweeps, _ := attributeSweeps(p, columns, workers)
		if limit == 0 || columns <= len(p.Names) || columns <= productGroup || spec.Sum(sweeps) <= limit {
			return columns
		}
	}
}
