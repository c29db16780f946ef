package sched_test

import (
	"context"
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/internal/sched"
)

func TestAbandon(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := false
	if err := sched.Abandon(ctx, func() { done = true }); err != nil || !done {
		t.Errorf("ended: %v, error %v", done, err)
	}
	if p, ok := caught(func() { _ = sched.Abandon(ctx, func() { panic("inside") }) }).(*sched.Panic); !ok || p.Error() != "inside" {
		t.Errorf("the panic does not reach the caller: %v", p)
	}

	release, ended := make(chan struct{}), make(chan struct{})
	err := sched.Abandon(ctx, func() {
		cancel()
		<-release
		close(ended)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(release)
	<-ended

	if err := sched.Abandon(ctx, func() { t.Error("called after the end") }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
