package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(context.Background(), &out, "plain", false, false)
	s := p.begin("reading edges.tsv", 2_000_000, inBytes)
	s.set(1_000_000, 0)
	if out.Len() > 0 {
		t.Errorf("a line before its time: %q", out.String())
	}
	s.started = s.started.Add(-4 * time.Second)
	s.set(1_000_000, 0)
	s.set(1_000_001, 0)
	p.close()
	want := "reading edges.tsv: 1.00 MB of 2.00 MB, 250 KB/s, 4.0 s left\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressJSON(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(context.Background(), &out, "plain", false, true)
	s := p.begin("walking", 40, "sweep")
	s.started = s.started.Add(-4 * time.Second)
	s.set(10, 0)
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
	}{{"none", false}, {"auto", false}, {"plain", true}} {
		var out bytes.Buffer
		p := newProgress(context.Background(), &out, c.as, c.quiet, false)
		s := p.begin("walking", 40, "sweep")
		s.started = s.started.Add(-time.Hour)
		s.set(10, 0)
		p.close()
		if out.Len() > 0 {
			t.Errorf("%+v: %q", c, out.String())
		}
	}
	var none *progress
	none.begin("walking", 0, inBytes).set(1, 2)
	none.close()
}

func TestProgressWithoutTotal(t *testing.T) {
	s := (*progress)(nil).begin("reading", 0, "line")
	s.started = s.started.Add(-2 * time.Second)
	s.set(5000, 0)
	if got := s.String(); !strings.HasPrefix(got, "5,000 lines, 2,") || strings.Contains(got, "left") {
		t.Errorf("got %q", got)
	}
}
