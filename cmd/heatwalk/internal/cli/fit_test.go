package cli

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/account"
	"github.com/heatwalk/heatwalk/internal/budget"
)

// What a refusal says is enough is never too little, and at most a sixteenth more
// than what is.
func TestEnoughIsClose(t *testing.T) {
	for least := int64(100_000_001); least < 3_000_000_000; least += least / 37 {
		in := &invocation{memory: 100_000_000}
		got := in.enough(func() (*account.Needs, error) {
			if in.memory < least {
				return nil, budget.ErrOver
			}
			return new(account.Needs), nil
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
	for _, wrong := range []error{budget.ErrOver, other} {
		in := &invocation{memory: 1 << 27}
		if got := in.enough(func() (*account.Needs, error) { return nil, wrong }); got != 0 {
			t.Errorf("%v: %d bytes", wrong, got)
		}
	}
}

// A graph of which parts stay in memory is streamed only where that saves more
// than the twelfth that a sweep from disk costs.
func TestStreamingPays(t *testing.T) {
	workplace(t)
	in := newInvocation(context.Background(), nil, nil, io.Discard, io.Discard)
	in.memory = 1 << 28
	g := &openGraph{in: in, name: "g", dir: "g"}
	if err := g.open(false, false); err != nil {
		t.Fatal(err)
	}
	defer g.close()
	if g.Kept() == 0 {
		t.Fatal("nothing of the graph stays in memory")
	}
	for _, c := range []struct {
		kept, streamed int
		pays           bool
	}{
		{13, 11, true}, {12, 11, false}, {11, 11, false}, {24, 21, true}, {24, 22, false}, {120, 111, false}, {1, 1, false},
	} {
		plan := func() (*account.Needs, error) {
			if g.asStreamed {
				return &account.Needs{Sweeps: c.streamed}, nil
			}
			return &account.Needs{Sweeps: c.kept}, nil
		}
		if got := g.streamingPays(c.kept, plan); got != c.pays {
			t.Errorf("%d sweeps for %d: streaming pays: %v", c.streamed, c.kept, got)
		}
	}
	if g.streamingPays(account.UnknownSweeps, func() (*account.Needs, error) { return &account.Needs{Sweeps: 1}, nil }) {
		t.Error("sweeps that are not known are taken for many")
	}
}
