package cli

import (
	"testing"
)

func TestSources(t *testing.T) {
	for _, d := range declarations() {
		if d.Source == "" && d.Name != "majority" {
			t.Errorf("%s of %s has no source", d.Name, d.Command)
		}
	}
}
