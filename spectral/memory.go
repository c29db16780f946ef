package spectral

import (
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/spec"
)

// Memory lists what Solve takes for k pairs beside the matrix, on a graph with n nodes,
// so many entries and, where they count, components, with the memory of the settings.
func (p *Problem) Memory(n int, entries int64, components, k int, s *lanczos.Settings) []spec.Bytes {
	vectors := vectorBytes(n)
	s = within(s, vectors)
	known := 0
	if p.Splits() {
		known = components
	}
	search := lanczos.Memory(n, k, known, p.Which, s)
	bytes, more := spec.Least(search), spec.Sum(search)
	if p.Splits() && known < k {
		// LOBPCG makes the factor in what its own vectors leave.
		iteration := spec.Sum(lanczos.Memory(n, k, known, p.Which, &lanczos.Settings{Patience: -1})) + spec.Sum(iterative.CholeskyMemory(n, entries, 0))
		more = max(more, iteration)
		// Of two ways that take about as much the list has the dearer one.
		if hardly := iteration <= bytes+bytes/3; hardly && (s.Memory == 0 || iteration <= s.Memory) {
			bytes = max(bytes, iteration)
		}
	}
	further := spec.Bytes{What: "a larger basis, or a factor", Bytes: max(0, more-bytes), Optional: true}
	return []spec.Bytes{{What: "vectors of the matrix", Bytes: vectors}, {What: search[0].What, Bytes: bytes}, further.Upto(s.Memory, bytes)}
}

// within returns settings whose memory is less by so many bytes.
func within(s *lanczos.Settings, bytes int64) *lanczos.Settings {
	var inner lanczos.Settings
	if s != nil {
		inner = *s
	}
	if inner.Memory > 0 {
		inner.Memory = max(1, inner.Memory-bytes)
	}
	return &inner
}

// vectorBytes is what the order of the rows, degrees and their roots, components, the
// matrix and known vectors take at the most.
func vectorBytes(n int) int64 {
	return 64 * int64(n)
}
