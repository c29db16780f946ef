package table

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sampleOf returns the sample of lines of numbers.
func sampleOf(rows [][3]int) *Sample {
	var lines []string
	for _, row := range rows {
		lines = append(lines, fmt.Sprintf("%d %d %d", row[0], row[1], row[2]))
	}
	s := &Sample{Titles: strings.Fields(lines[0]), Text: []byte(strings.Join(lines[1:], "\n") + "\n"), Separator: Blanks}
	for _, line := range lines[1:min(len(lines), SampleRows+1)] {
		s.Rows = append(s.Rows, strings.Fields(line))
	}
	return s
}

// TestClock checks that contacts t i j are a question, also if times are small numbers that ids share, and that edges in
// the order of their sources or weights, edges with weights above their ids, and ratings of users are none.
func TestClock(t *testing.T) {
	random := rand.New(rand.NewPCG(80, 1))
	alarms, silent := 0, 0
	const trials = 200
	for trial := range trials {
		n := 20 + random.IntN(100)
		var contacts, edges [][3]int
		for time := random.IntN(3); len(contacts) < 6*n; time += 1 + trial%4*random.IntN(7) {
			for range 1 + random.IntN(6) {
				i := 1 + random.IntN(n)
				j := 1 + (i+random.IntN(n-1))%n
				if trial%2 == 0 {
					i, j = min(i, j), max(i, j)
				}
				contacts = append(contacts, [3]int{time, i, j})
			}
		}
		largest := []int{5, 10, 100, n}[trial%4]
		for a := range n {
			for _, b := range slices.Sorted(slices.Values(random.Perm(n)[:5])) {
				if trial%3 == 0 || a < b {
					edges = append(edges, [3]int{a, b, 1 + random.IntN(largest)})
				}
			}
		}
		if _, err := sampleOf(contacts).ChooseEdges(EdgeOptions{}); err == nil {
			silent++
		}
		sums := slices.Clone(edges)
		byWeight := slices.Clone(edges)
		slices.SortFunc(byWeight, func(a, b [3]int) int { return a[2] - b[2] })
		var ratings [][3]int
		for i, e := range edges {
			sums[i][2] = e[0] + e[1]
			byWeight[i][2] = 3*i + byWeight[i][2]
			ratings = append(ratings, [3]int{1000 + e[0], 1 + e[1]%9, 1 + random.IntN(5)})
		}
		slices.SortFunc(ratings, func(a, b [3]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
		for _, list := range [][][3]int{edges, sums, byWeight, slices.Compact(ratings)} {
			if _, err := sampleOf(list).ChooseEdges(EdgeOptions{}); err != nil {
				alarms++
				t.Log(err, list[:10])
			}
		}
	}
	if silent > trials/50 || alarms > trials/50 {
		t.Errorf("%d contacts without a question and %d edges with one, of %d", silent, alarms, 4*trials)
	}
	var mails [][3]int
	for i := range 20 {
		mails = append(mails, [3]int{random.IntN(9), 9 + random.IntN(9), 100 * i})
	}
	if _, err := sampleOf(mails).ChooseEdges(EdgeOptions{}); err == nil || !strings.HasPrefix(err.Error(), "the third column never falls") {
		t.Errorf("times in the third column: %v", err)
	}
}
