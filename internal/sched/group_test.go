package sched_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/internal/sched"
)

func caught(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

func TestPanicReachesTheCaller(t *testing.T) {
	const pieces = 10_000
	for _, workers := range []int{1, 2, 7} {
		var started atomic.Int32
		value := caught(func() {
			_ = sched.Run(t.Context(), workers, pieces, func(_, piece int) error {
				started.Add(1)
				if piece == 3 {
					panic("piece 3")
				}
				time.Sleep(time.Millisecond) // because a busy machine may stop the panic on its way
				return nil
			})
		})
		p, ok := value.(*sched.Panic)
		switch {
		case workers == 1 && value != "piece 3":
			t.Errorf("one worker: %v", value)
		case workers > 1 && (!ok || p.Error() != "piece 3" || !strings.Contains(string(p.Stack), "group_test.go")):
			t.Errorf("%d workers: %v", workers, value)
		}
		if n := started.Load(); n == pieces {
			t.Errorf("%d workers: every piece started in spite of the panic", workers)
		}
	}
}

func TestInRows(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		value := caught(func() {
			defer sched.InRows(0, 1000)
			_ = sched.Run(t.Context(), workers, 10, func(_, piece int) error {
				defer sched.InRows(100*piece, 100*piece+100)
				if piece == 3 {
					panic("piece 3")
				}
				return nil
			})
		})
		p, ok := value.(*sched.Panic)
		if !ok || p.Error() != "piece 3" || p.Lo != 300 || p.Hi != 400 || !strings.Contains(string(p.Stack), "group_test.go") {
			t.Errorf("%d workers: %#v", workers, value)
		}
	}
	if value := caught(func() { defer sched.InRows(0, 1) }); value != nil {
		t.Errorf("without a panic: %v", value)
	}
}

func TestGroupIsReadyAgainAfterAPanic(t *testing.T) {
	var g sched.Group
	g.Go(func() { panic(errors.New("once")) })
	if p, ok := caught(g.Wait).(*sched.Panic); !ok || p.Error() != "once" {
		t.Errorf("Wait panicked with %v", p)
	}
	done := false
	g.Go(func() { done = true })
	g.Wait()
	if !done {
		t.Error("a goroutine did not run")
	}
}
