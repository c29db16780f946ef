package regress

import "github.com/heatwalk/heatwalk/method/split"

// Bytes returns an upper bound on the memory of [Run] without the graph and the attributes. Of the
// graph it reads the degrees and the number of entries alone. The error is a [*TooManyError] or that
// of a parameter.
func Bytes(p *Problem, methods []*Method, s *Settings) (int64, error) {
	compared := p.At(sampleOf(len(p.Row), mostCompared, s.RNGSeed)).Row
	folds := split.FoldCount(len(compared))
	sets := folds * (folds + 1) / 2
	retained := 8*3*int64(sets)*int64(len(compared)) + 2*8*int64(len(p.Degrees)) + int64(len(p.Degrees))/8
	largest := walkBytes(len(p.Degrees), 0, 0)
	set := *s
	if set.Memory > 0 {
		set.Memory = max(1, set.Memory-retained)
	}
	for _, m := range methods {
		bytes, err := m.Model.bytes(p, compared, m, &set)
		if err != nil {
			return 0, err
		}
		largest = max(largest, bytes)
	}
	return retained + largest, nil
}
