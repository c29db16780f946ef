package nodefile_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
)

func TestTrainable(t *testing.T) {
	for _, c := range []struct {
		l    nodefile.Labels
		want string
	}{
		{nodefile.Labels{Row: []int{0, 1}, Class: []int{0, 0}, Names: []string{"A"}}, `l.tsv: all 2 training labels are "A"; two classes are needed`},
		{
			nodefile.Labels{Row: []int{0}, Class: []int{0}, Names: []string{"1"}, MinusOne: true},
			`l.tsv: the only training label is "1"; two classes are needed; -1 means no label; rename that class`,
		},
		{nodefile.Labels{}, "l.tsv: no training labels"},
	} {
		c.l.File = "l.tsv"
		if err := c.l.Trainable(); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	if err := (&nodefile.Labels{Names: []string{"A", "B"}}).Trainable(); err != nil {
		t.Error(err)
	}
}
