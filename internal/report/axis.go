package report

import (
	"math"
	"strconv"
)

// Axis is an axis of a [Chart].
type Axis struct {
	Title     string
	Log       bool    // logarithmic; values must be positive
	Whole     bool    // values are counts
	Low, High float64 // ends; if equal, the axis ends near the smallest and the largest value, and at 0 if it is near
}

type Tick struct {
	At   float64
	Text string
}

// scale maps values of an axis to pixels.
type scale struct {
	log       bool
	low, high float64 // ends, or their logarithms on a logarithmic axis
	first     float64 // pixel of low
	length    float64 // pixels from low to high; negative on a vertical axis
	ticks     []Tick
}

// value returns x. On a logarithmic axis it returns log₁₀ x.
func (s *scale) value(x float64) float64 {
	if s.log {
		return math.Log10(x)
	}
	return x
}

// at returns the pixel of a value. A value outside the axis gets the pixel of the nearer end.
func (s *scale) at(x float64) float64 {
	share := (s.value(x) - s.low) / (s.high - s.low)
	return s.first + s.length*min(1, max(0, share))
}

// newScale returns the scale with ticks for values between low and high. The caller must set the pixels.
func (a *Axis) newScale(low, high float64) *scale {
	s := &scale{log: a.Log}
	hasEnds := a.Low != a.High
	if hasEnds {
		low, high = a.Low, a.High
	} else if !a.Log && low > 0 && low < high/3 {
		low = 0
	}
	s.low, s.high = s.value(low), s.value(high)
	if s.low == s.high { // a single value
		s.low -= 0.5
		s.high += 0.5
	}
	if a.Log {
		s.logTicks()
		return s
	}
	step := roundStep((s.high - s.low) / 5)
	if a.Whole {
		step = max(1, step)
	}
	first, last := math.Ceil(s.low/step-1e-9), math.Floor(s.high/step+1e-9)
	if !hasEnds { // ends move to the next tick
		first, last = math.Floor(s.low/step+1e-9), math.Ceil(s.high/step-1e-9)
		s.low = first * step
		s.high = last * step
	}
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	for n := int(first); n <= int(last); n++ {
		x := float64(n) * step
		s.ticks = append(s.ticks,
			Tick{x, strconv.FormatFloat(x, 'f', decimals, 64)})
	}
	return s
}

// logTicks sets ticks at powers of ten and, on an axis of less than two decades, at 2 and 5 times powers of ten. The
// ends of the axis become ticks.
func (s *scale) logTicks() {
	factors := []float64{1}
	if s.high-s.low < 2 {
		factors = []float64{1, 2, 5}
	}
	step := max(1, math.Ceil((s.high-s.low)/7))
	for power := math.Floor(s.low + 1e-9); ; power += step {
		for _, f := range factors {
			x := f * math.Pow(10, power)
			if s.value(x) <= s.low+1e-9 {
				s.ticks = nil // a tick nearer to the end follows
			}
			s.ticks = append(s.ticks, Tick{x, short(x)})
			if s.value(x) >= s.high-1e-9 {
				s.low, s.high = s.value(s.ticks[0].At), s.value(x)
				return
			}
		}
	}
}

// short formats x without zeros at the end, from 10,000 on with a suffix k, M or G.
func short(x float64) string {
	switch {
	case x >= 1e12 || x < 1e-4:
		return strconv.FormatFloat(x, 'e', -1, 64)
	case x >= 1e9:
		return short(x/1e9) + "G"
	case x >= 1e6:
		return short(x/1e6) + "M"
	case x >= 1e4:
		return short(x/1e3) + "k"
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// roundStep returns the smallest number that is at least x and 1, 2 or 5 times a power of ten.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= x*(1-1e-9) {
			return f * power
		}
	}
	return 10 * power
}
