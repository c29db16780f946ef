package testgraph

import "os"

// Hunt says that sweeps over plans, kills and random files are to be long ones:
// every case, not a sample. HEATWALK_HUNT=1 sets it.
var Hunt = os.Getenv("HEATWALK_HUNT") != ""

// Workers returns numbers of workers whose results are to be the same bits: 1, 2 and 7
// in a hunt, and otherwise 1 and, by turns, 2 or 7.
func Workers(turn int) []int {
	switch {
	case Hunt:
		return []int{1, 2, 7}
	case turn%2 == 0:
		return []int{1, 7}
	}
	return []int{1, 2}
}
