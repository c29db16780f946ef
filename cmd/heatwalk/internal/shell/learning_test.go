package shell

import (
	"testing"

	"github.com/heatwalk/heatwalk/method"
)

func TestUnfinishedAdvice(t *testing.T) {
	for name, want := range map[string]string{
		"cwk":          "; give a smaller cost or a larger svm-tolerance",
		"diffusion":    "; give a smaller cost or a larger svm-tolerance",
		"cwk+logistic": "; longer ones do not count",
	} {
		entries, err := method.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := UnfinishedAdvice(entries[0].Method.Specs); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
