package words

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"alpha", "beta", "kernel", "labels", "max-memory", "learner"}
	for word, want := range map[string]string{
		"kernl": "kernel", "lable": "labels", "label": "labels", "max-mem": "max-memory", "Alpha": "alpha",
		"lerner": "learner", "zzzz": "", "": "", "ekrnel": "kernel",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
