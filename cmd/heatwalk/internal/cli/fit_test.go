package cli

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/internal/budget"
)

// What a refusal says is enough is never too little, and at most a sixteenth more
// than what is.
func TestEnoughIsClose(t *testing.T) {
	for least := int64(100_000_001); least < 3_000_000_000; least += least / 37 {
		in := &invocation{memory: 100_000_000}
		got := in.enough(func() (*budget.Needs, error) {
			if in.memory < least {
				return nil, budget.ErrMemory
			}
			return new(budget.Needs), nil
		})
		if got < least || got-least > least/16 {
			t.Errorf("%d bytes are needed, %d said to be enough", least, got)
		}
		if in.memory != 100_000_000 {
			t.Fatalf("the limit is %d afterwards", in.memory)
		}
	}
}

// Where no memory is enough, or something else is wrong, none is said to be.
func TestNothingIsEnough(t *testing.T) {
	other := errors.New("something else")
	for _, wrong := range []error{budget.ErrMemory, other} {
		in := &invocation{memory: 1 << 27}
		if got := in.enough(func() (*budget.Needs, error) { return nil, wrong }); got != 0 {
			t.Errorf("%v: %d bytes", wrong, got)
		}
	}
}
