package sides

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Agreement counts, for each kind, the entries between labelled nodes other than self loops, and those between nodes of
// one class. Cost: one sweep.
func Agreement(ctx context.Context, s *shard.Store, rows, classes []int) (labelled, equal []int64, err error) {
	n, _ := s.Dims()
	class := make([]int32, n) // plus 1; 0 without a label
	for i, row := range rows {
		class[row] = int32(classes[i]) + 1
	}
	labelled, equal = make([]int64, len(s.Manifest.Kinds)), make([]int64, len(s.Manifest.Kinds))
	var codes []uint32
	err = s.Sweep(ctx, 1, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, _ := p.Row(i - p.Lo)
			if class[i] == 0 {
				continue
			}
			codes = p.AppendCodes(codes[:0], i-p.Lo)
			for e, code := range codes {
				if class[col[e]] == 0 || int(col[e]) == i {
					continue
				}
				kind := shard.KindOf(code)
				labelled[kind]++
				if class[i] == class[col[e]] {
					equal[kind]++
				}
			}
		}
		return nil
	})
	return labelled, equal, err
}
