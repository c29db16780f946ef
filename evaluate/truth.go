package evaluate

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/heatwalk/heatwalk/nodefile"
)

// Truth is how predictions compare with true labels.
type Truth struct {
	Nodes    int     `json:"nodes"`
	Accuracy float64 `json:"accuracy"`
	Reached  float64 `json:"accuracy_reached"`
	MacroF1  float64 `json:"macro_f1"`
}

// Compare scores labels, a class of seeds for each row or [Unlabelled], against known
// ones on all nodes that were not labelled from the start, or returns nil if there are
// none. A blank is wrong, and so is
// every class that was not seen.
func Compare(labels []int, reached *roaring.Bitmap, seeds, known *nodefile.Labels) *Truth {
	given := classOfRow(seeds, len(labels))
	names := slices.Clone(seeds.Names)
	position := map[string]int{}
	for i, name := range names {
		position[name] = i
	}
	for _, name := range known.Names {
		if _, ok := position[name]; !ok {
			position[name] = len(names)
			names = append(names, name)
		}
	}
	blank := len(names) // a class of its own that no node is of
	table := newConfusion(len(names) + 1)
	var t Truth
	var rightReached, ofReached int
	for i, row := range known.Row {
		if given[row] != Unlabelled {
			continue
		}
		want, got := position[known.Names[known.Class[i]]], labels[row]
		if got == Unlabelled {
			got = blank
		}
		table[want][got]++
		t.Nodes++
		if reached.Contains(uint32(row)) {
			ofReached++
			if got == want {
				rightReached++
			}
		}
	}
	if t.Nodes == 0 {
		return nil
	}
	t.Accuracy = table.Accuracy()
	t.Reached = float64(rightReached) / math.Max(1, float64(ofReached))
	t.MacroF1 = table.MacroF1()
	if present := classesIn(table[:blank]); present > 0 && classesIn(table) > present {
		// The blank is no class: it has no share in the mean.
		t.MacroF1 *= float64(present+1) / float64(present)
	}
	return &t
}

// classesIn counts the classes that occur, as truth or as prediction, in the
// rows of a table or in the columns of the same numbers.
func classesIn(rows [][]int) int {
	present := 0
	for c := range rows {
		occurs := false
		for other, row := range rows {
			occurs = occurs || row[c] > 0 || other == c && slices.Max(row) > 0
		}
		if occurs {
			present++
		}
	}
	return present
}

// classOfRow returns the class of each of n rows, [Unlabelled] for those without.
func classOfRow(l *nodefile.Labels, n int) []int32 {
	class := slices.Repeat([]int32{Unlabelled}, n)
	for i, row := range l.Row {
		class[row] = int32(l.Class[i])
	}
	return class
}
