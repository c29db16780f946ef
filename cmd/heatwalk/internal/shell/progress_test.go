package shell

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	p := NewDisplay(&out, "plain", false, false)
	s := p.Begin("reading edges.tsv", 2_000_000, Bytes)
	s.Set(1_000_000, 0)
	if out.Len() > 0 {
		t.Errorf("a line before its time: %q", out.String())
	}
	s.started = s.started.Add(-4 * time.Second)
	p.tick()
	p.Close()
	p.tick()
	want := "reading edges.tsv: 1.00 MB of 2.00 MB, 250 KB/s, 4.0 s left\nreading edges.tsv: 1.00 MB, 4.0 s\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressJSON(t *testing.T) {
	var out bytes.Buffer
	p := NewDisplay(&out, "plain", false, true)
	s := p.Begin("walking", 40, "sweep")
	s.started = s.started.Add(-4 * time.Second)
	s.Set(10, 0)
	p.tick()
	var line struct {
		Level, Stage string
		Done, Total  int64
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Level != "info" || line.Stage != "walking" || line.Done != 10 || line.Total != 40 {
		t.Errorf("got %s (%v)", out.String(), err)
	}
}

func TestProgressIsSilent(t *testing.T) {
	for _, c := range []struct {
		as    string
		quiet bool
	}{{"none", false}, {"plain", true}} {
		var out bytes.Buffer
		p := NewDisplay(&out, c.as, c.quiet, false)
		s := p.Begin("walking", 40, "sweep")
		s.started = s.started.Add(-time.Hour)
		s.Set(10, 0)
		p.Close()
		if out.Len() > 0 {
			t.Errorf("%+v: %q", c, out.String())
		}
	}
	var log bytes.Buffer
	d := NewDisplay(&log, "auto", false, false)
	show := d.Stages("sweep")
	show("walking", 10, 0)
	if d.tick(); log.String() != "walking: 10 sweeps\n" {
		t.Errorf("a log: %q", log.String())
	}
	d.Close()
	var out bytes.Buffer
	quick := NewDisplay(&out, "plain", false, false)
	quick.Begin("walking", 40, "sweep").Set(40, 0)
	quick.Close()
	if out.Len() > 0 {
		t.Errorf("a stage that is over at once: %q", out.String())
	}
	none := new(Display)
	none.Begin("walking", 0, Bytes).Set(1, 2)
	none.Close()
}

func TestProgressWithoutTotal(t *testing.T) {
	s := new(Display).Begin("reading", 0, "line")
	s.started = s.started.Add(-2 * time.Second)
	s.Set(5000, 0)
	if got := s.String(); !strings.HasPrefix(got, "5,000 lines, 2,") || strings.Contains(got, "left") {
		t.Errorf("got %q", got)
	}
}

func TestProgressWithoutStage(t *testing.T) {
	var out bytes.Buffer
	p := NewDisplay(&out, "plain", false, false)
	p.idle = p.idle.Add(-5 * time.Second)
	p.tick()
	p.Close()
	if got := out.String(); got != "working: 5.0 s\n" {
		t.Errorf("got %q", got)
	}
}

// The bar, the percentage and the amount must agree, even if more work is done than was expected.
func TestProgressDrawn(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		width       int
		want        string
	}{
		{4, 8, 100, "computing ━━━━━━━━━━━━              50 %  4 of 8 products, 1 product/s, 3.2 s left"},
		{4, 16, 100, "computing ━━━━━━                    25 %  4 of 16 products, 1 product/s, 9.6 s left"},
		{24, 16, 100, "computing ━━━━━━━━━━━━━━━━━━━━━━━━ 100 %  24 of 24 products, 7 products/s, 3.2 s"},
		{4, 8, 70, "computing ━━━━━━━━━━━━              50 %  4 of 8 products, 3.2 s left"},
		{4, 8, 60, "computing  50 %  4 of 8 products, 3.2 s left"},
		{4, 8, 30, "computing  50 %  3.2 s left"},
		{4, 8, 12, "ing  50 %  "},
	} {
		s := new(Display).Begin("computing", 8, "product")
		s.started = s.started.Add(-3200 * time.Millisecond)
		s.Set(c.done, c.total)
		s.Set(0, c.total) // a share does not go backwards
		if got := s.draw(c.width); got != c.want {
			t.Errorf("%d of %d in %d columns: %q, want %q", c.done, c.total, c.width, got, c.want)
		}
	}
	none := new(Display).Begin("writing", 8, "row")
	none.started = none.started.Add(-3200 * time.Millisecond)
	if got, want := none.draw(80), "writing                            0 %  0 of 8 rows, 3.2 s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	share := new(Display).Begin("learning", Whole, Shares)
	share.Set(250, 0)
	if got, want := share.draw(80), "learning ━━━━━━                   25 %"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Progress is shown before the first split is done.
func TestProgressOfEvaluation(t *testing.T) {
	var out bytes.Buffer
	p := NewDisplay(&out, "plain", false, false)
	units, phase := p.Parts("evaluating", "split")
	splits := func(done, total int64) { units("", done, total) }
	line := func() string {
		out.Reset()
		p.tick()
		return out.String()
	}
	phase("choose", 1, 4)
	if got := line(); got != "evaluating: choose 25 %\n" {
		t.Errorf("got %q", got)
	}
	splits(1, 4)
	phase("walk", 1, 2)
	if got := line(); got != "evaluating: 1 of 4 splits, walk 50 %\n" {
		t.Errorf("got %q", got)
	}
	splits(2, 4)
	if got := line(); got != "evaluating: 2 of 4 splits\n" {
		t.Errorf("got %q", got)
	}
	p.Close()
}

// A finished phase is not shown at 100 % while other work goes on.
func TestProgressOfPhases(t *testing.T) {
	var out bytes.Buffer
	p := NewDisplay(&out, "plain", false, false)
	phase := p.Phases()
	phase("features", 1, 2)
	p.tick()
	phase("features", 2, 2)
	p.idle = p.idle.Add(-2 * time.Second)
	p.tick()
	phase("walk", 1, 4)
	p.tick()
	if got, want := out.String(), "features: 50 %\nworking: 2.0 s\nwalk: 25 %\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Close()
}

func TestTimeLeft(t *testing.T) {
	s := &Stage{unit: Shares, started: time.Now().Add(-10 * time.Second)}
	s.Set(500, Whole)
	first := *s.secondsLeft()
	s.started = s.started.Add(-5 * time.Second)
	s.Set(510, Whole)
	if left := *s.secondsLeft(); math.Abs(first-10) > 1 || left > first {
		t.Errorf("%v s left, then %v", first, left)
	}
	s.started = s.started.Add(-time.Minute) // the time left is not known if the stage has become slow
	if left := s.secondsLeft(); left != nil {
		t.Errorf("%v s left of a minute", *left)
	}
}
