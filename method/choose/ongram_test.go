package choose

import (
	"testing"
)

func TestLargestWithout(t *testing.T) {
	class, fold := []int{2, 2, 2, 0, 1, 1}, []int{0, 0, 1, 1, 1, 2}
	for f, want := range []int{1, 2, 2} {
		if got := LargestWithout(class, fold, f); got != want {
			t.Errorf("%d without fold %d, want %d", got, f, want)
		}
	}
}
