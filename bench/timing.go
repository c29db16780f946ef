package bench

import (
	"slices"
	"time"
)

// Timing is what repetitions of one workload took.
type Timing struct {
	Repeat        int     `json:"repeat"`
	SecondsMin    float64 `json:"seconds_min"`
	SecondsMedian float64 `json:"seconds_median"`
}

// measure runs work once to warm caches and buffers, then repeat times.
func measure(repeat int, work func() error) (Timing, error) {
	if err := work(); err != nil {
		return Timing{}, err
	}
	times := make([]float64, max(1, repeat))
	for i := range times {
		start := time.Now()
		if err := work(); err != nil {
			return Timing{}, err
		}
		times[i] = time.Since(start).Seconds()
	}
	slices.Sort(times)
	return Timing{Repeat: len(times), SecondsMin: times[0], SecondsMedian: times[len(times)/2]}, nil
}
