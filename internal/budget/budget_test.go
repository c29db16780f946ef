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
	var over *Error
	if !errors.Is(err, ErrMemory) || !errors.As(err, &over) || over.Need != 60+2<<30 {
		t.Errorf("%#v", err)
	}
	if want := "needs 2.0 GiB (Gram panel 2.0 GiB), limit 100 B"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if left, _ := p.Left(); left != 0 || p.Total() != 60+2<<30 {
		t.Error(left, p.Total())
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
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 70<<30 + 850<<20: "70.8 GiB", 1 << 62: "4.0 EiB",
	} {
		if got := Size(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}

func TestPeak(t *testing.T) {
	var p Plan
	_ = p.Reserve(10, "store")
	_ = p.Reserve(50, "walk")
	_ = p.Reserve(5, "walk")
	p.Release("walk")
	_ = p.Reserve(40, "scores")
	p.Release("nothing of this name")
	if p.Total() != 50 {
		t.Error(p.Total())
	}
	bytes, items := p.Peak()
	if bytes != 65 || len(items) != 3 || items[2] != (Item{What: "walk", Bytes: 5}) {
		t.Error(bytes, items)
	}
	_ = p.Reserve(16, "votes")
	if bytes, items = p.Peak(); bytes != 66 || len(items) != 3 || items[1].What != "scores" {
		t.Error(bytes, items)
	}
}

// What may not be needed counts for the peak and the limit, but not for what is
// sure.
func TestPerhaps(t *testing.T) {
	p := Plan{Limit: 100}
	_ = p.Reserve(40, "solve")
	if err := p.ReservePerhaps(70, "factor"); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	bytes, items := p.Peak()
	if bytes != 110 || p.Sure() != 40 || items[0].Perhaps || !items[1].Perhaps {
		t.Error(bytes, p.Sure(), items)
	}
	p.Release("factor")
	_ = p.Reserve(20, "votes")
	if bytes, _ := p.Peak(); bytes != 110 || p.Sure() != 60 || p.Total() != 60 {
		t.Error(bytes, p.Sure(), p.Total())
	}
}
