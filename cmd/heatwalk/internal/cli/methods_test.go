package cli

import (
	"testing"
)

// TestSources checks that methods prints a source in the literature for everything except the
// baseline majority.
func TestSources(t *testing.T) {
	for _, d := range declarations() {
		if d.Source == "" && d.Name != "majority" {
			t.Errorf("%s of %s has no source", d.Name, d.Command)
		}
	}
}
