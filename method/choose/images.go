package choose

import (
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// NodesAtATime is the number of nodes that a machine decides on at a time, a multiple of
// four.
const NodesAtATime = 256

// ImageTo stores in dst, of at most NodesAtATime numbers, a multiple of four, the kernel
// applied to the scaled coefficients of a machine, given the values of its items.
func ImageTo(dst []float64, m *classify.Machine, scale float64, values func(item int) []float64) {
	var unread [NodesAtATime]float64
	clear(dst)
	for start := 0; start < len(m.Index); start += 4 {
		var factor [8]float64
		var rows [4][]float64
		for q := range rows {
			s := min(start+q, len(m.Index)-1)
			rows[q] = values(m.Index[s])
			if start+q == s {
				factor[q] = scale * m.Coef[s]
			}
		}
		simd.AddPanels(dst, unread[:len(dst)], rows[0], rows[1], rows[2], rows[3], &factor)
	}
}
