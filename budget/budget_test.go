package budget

import (
	"errors"
	"math"
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
	if left, _ := p.Left(); left != 0 || p.Required() != 60+2<<30 {
		t.Error(left, p.Required())
	}
	var free Plan
	if err := free.Reserve(1<<60, "anything"); err != nil {
		t.Error(err)
	}
	if _, ok := free.Left(); ok {
		t.Error("a limit from nowhere")
	}
}

func TestText(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 70<<30 + 850<<20: "70.8 GiB", 1 << 62: "4.0 EiB",
	} {
		if got := Text(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}

func TestItems(t *testing.T) {
	var p Plan
	for _, it := range []Item{{"graph", 300 << 20}, {"factor", 100 << 20}, {"graph", 5}, {"nothing", 0}} {
		if err := p.Reserve(it.Bytes, it.What); err != nil {
			t.Fatal(err)
		}
	}
	if items := p.Items(); len(items) != 2 || items[0] != (Item{"graph", 300<<20 + 5}) || p.Required() != 400<<20+5 {
		t.Errorf("%+v, total %d", items, p.Required())
	}
	for _, limit := range []int64{LeastLimit, 1 << 30, 1<<40 + 7} {
		if data := Data(limit); Resident(data) > limit || Resident(data+1<<20) <= limit || HeapLimit(data) >= limit {
			t.Errorf("a limit of %d leaves %d bytes of data, whose run needs %d", limit, data, Resident(data))
		}
	}
}

func TestWidest(t *testing.T) {
	bytes := func(width int) int64 { return int64(100 * width) }
	for _, c := range []struct {
		limit int64
		want  int
	}{{0, 7}, {99, 1}, {100, 1}, {399, 3}, {400, 4}, {700, 7}, {10_000, 7}} {
		if got := Widest(7, c.limit, bytes); got != c.want {
			t.Errorf("limit %d: width %d, want %d", c.limit, got, c.want)
		}
	}
}

func TestSizesDoNotOverflow(t *testing.T) {
	const huge = 1 << 62
	for _, size := range []Size{AllOf(huge, huge, huge), Times(8, huge), Block[float64](huge, 100), AllOf(Block[float64](huge, 1), 1)} {
		if size != math.MaxInt64 {
			t.Errorf("%d bytes", size)
		}
	}
	if size := AllOf(Times(3, AnyOf(5, 7)), Block[float32](10, 3), Vector[uint32](4)); size != 21+160+16 {
		t.Errorf("%d bytes", size)
	}
}
