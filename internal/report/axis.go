package report

import (
	"math"
	"slices"
	"strconv"
)

// Axis is an axis of a [Chart].
type Axis struct {
	Title    string
	Log      bool    // logarithmic; all values are positive
	From, To float64 // the ends; equal: from the smallest to the largest value, and to 0 if it is near
	Ticks    []Tick  // nil: round numbers
}

// Tick is a place on an axis with a text.
type Tick struct {
	At   float64
	Text string
}

// scale maps values of an axis to pixels.
type scale struct {
	log      bool
	from, to float64 // of the axis, logarithms of a logarithmic one
	first    float64 // pixel at from
	length   float64
	ticks    []Tick
}

// value returns x or its logarithm.
func (s *scale) value(x float64) float64 {
	if s.log {
		return math.Log10(x)
	}
	return x
}

// at returns the pixel of a value. Values beyond an end are drawn at the end.
func (s *scale) at(x float64) float64 {
	share := (s.value(x) - s.from) / (s.to - s.from)
	return s.first + s.length*min(1, max(0, share))
}

// newScale returns the scale of an axis for values between least and most. The pixels are not known yet.
func (a *Axis) newScale(least, most float64) *scale {
	s := &scale{log: a.Log, ticks: a.Ticks}
	given := a.From != a.To
	if given {
		least, most = a.From, a.To
	} else if !a.Log && least > 0 && least < most/3 {
		least = 0
	}
	s.from, s.to = s.value(least), s.value(most)
	if s.from == s.to { // of a single value
		s.from, s.to = s.from-0.5, s.to+0.5
	}
	if a.Ticks != nil {
		return s
	}
	if a.Log {
		s.logTicks(given)
		return s
	}
	step := roundStep((s.to - s.from) / 5)
	first, last := math.Ceil(s.from/step-1e-9), math.Floor(s.to/step+1e-9)
	if !given { // to the next tick
		first, last = math.Floor(s.from/step+1e-9), math.Ceil(s.to/step-1e-9)
		s.from, s.to = first*step, last*step
	}
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	for n := int(first); n <= int(last); n++ {
		at := float64(n) * step
		s.ticks = append(s.ticks, Tick{at, strconv.FormatFloat(at, 'f', decimals, 64)})
	}
	return s
}

// logTicks sets ticks at powers of ten, or at 1, 2 and 5 times them within less than two powers. Unless the
// ends of the axis are given, they become ticks.
func (s *scale) logTicks(given bool) {
	factors := []float64{1}
	if s.to-s.from < 2 {
		factors = []float64{1, 2, 5}
	}
	step := max(1, math.Ceil((s.to-s.from)/7))
	var ticks []Tick
	first, last := 0, -1 // the ticks at or outside the ends
	for power := math.Floor(s.from + 1e-9); last < 0; power += step {
		for _, f := range factors {
			x := f * math.Pow(10, power)
			if s.value(x) <= s.from+1e-9 {
				first = len(ticks)
			}
			if last < 0 && s.value(x) >= s.to-1e-9 {
				last = len(ticks)
			}
			ticks = append(ticks, Tick{x, short(x)})
		}
	}
	s.ticks = ticks[first : last+1]
	if !given {
		s.from, s.to = s.value(ticks[first].At), s.value(ticks[last].At)
	}
	s.ticks = slices.DeleteFunc(s.ticks, func(t Tick) bool { return s.value(t.At) < s.from-1e-9 || s.value(t.At) > s.to+1e-9 })
}

// short writes a number of an axis without trailing zeros.
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

// roundStep returns the smallest of 1, 2 and 5 times a power of ten that is at least x.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= x*(1-1e-9) {
			return f * power
		}
	}
	return 10 * power
}
