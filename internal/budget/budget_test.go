package budget

import (
	"errors"
	"testing"
)

func TestPlan(t *testing.T) {
	p := Plan{Limit: 100}
	if err := p.Reserve(60, "blocks"); err != nil {
		t.Fatal(err)
	}
	if left, ok := p.Left(); left != 40 || !ok {
		t.Error(left, ok)
	}
	err := p.Reserve(2<<30, "Gram panel")
	var over *OverError
	if !errors.Is(err, ErrOver) || !errors.As(err, &over) || over.Need != 60+2<<30 {
		t.Errorf("%#v", err)
	}
	if want := "needs 2.0 GiB (Gram panel 2.0 GiB), limit 100 B"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if left, _ := p.Left(); left != 0 || p.Total() != 60+2<<30 || len(p.Report()) != 2 {
		t.Error(left, p.Total(), p.Report())
	}
	var free Plan
	if err := free.Reserve(1<<60, "anything"); err != nil {
		t.Error(err)
	}
	if _, ok := free.Left(); ok {
		t.Error("a limit from nowhere")
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 70<<30 + 850<<20: "70.8 GiB", 1 << 62: "4.0 EiB",
	} {
		if got := Size(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}
