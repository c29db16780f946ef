package bench

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScalingMeasuresEveryPoint(t *testing.T) {
	a, degrees := random(t, 300)
	columns, threads := &Scaling{Over: "columns"}, &Scaling{Over: "threads"}
	if err := columns.Add(t.Context(), &Target{A: a, Degrees: degrees}, &Settings{Workers: 2, Repeat: 1}, 4); err != nil {
		t.Fatal(err)
	}
	if err := threads.Add(t.Context(), &Target{A: a, Degrees: degrees}, &Settings{Columns: 5, Double: true, Repeat: 1}, 3); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Scaling{columns, threads} {
		if len(s.Points) != 3 {
			t.Fatalf("%d points over %s, want 3", len(s.Points), s.Over)
		}
		for _, p := range s.Points {
			if p.NsPerEntryColumn <= 0 || *p.Checksum <= 0 {
				t.Errorf("%s %d: %+v", s.Over, p.X, p)
			}
		}
		var svg bytes.Buffer
		if err := s.SVG(&svg, "a title"); err != nil {
			t.Fatal(err)
		}
		dec := xml.NewDecoder(&svg)
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: not XML: %v", s.Over, err)
			}
		}
	}
	if *threads.Points[0].Checksum != *threads.Points[2].Checksum {
		t.Error("the number of threads changes the checksum")
	}
	if columns.Points[1].Columns != 2 {
		t.Errorf("%d columns, want 2", columns.Points[1].Columns)
	}
}

// Positions are those of the axes: times from 0 up, and X by its logarithm.
func TestChart(t *testing.T) {
	s := &Scaling{Over: "columns", Points: []point{
		{1, &Report{NsPerEntryColumn: 2.4}}, {2, &Report{NsPerEntryColumn: 1.2}}, {8, &Report{NsPerEntryColumn: 0.6}},
	}}
	c := newChart(s, "a <title>")
	var marks []string
	for _, d := range c.Down {
		marks = append(marks, d.Text)
	}
	if diff := cmp.Diff([]string{"0", "0.5", "1", "1.5", "2", "2.5"}, marks); diff != "" {
		t.Error(diff)
	}
	up, right := c.Down[0].At-c.Down[5].At, c.Points[2].X-c.Points[0].X
	for i, p := range c.Points {
		if got, want := (c.Down[0].At-p.Y)/up*2.5, s.Points[i].NsPerEntryColumn; math.Abs(got-want) > 0.01 {
			t.Errorf("point %d stands at %v, want %v", i, got, want)
		}
		if got, want := (p.X-c.Points[0].X)/right, math.Log2(float64(s.Points[i].X))/3; math.Abs(got-want) > 0.01 {
			t.Errorf("point %d stands at %v of the width, want %v", i, got, want)
		}
		if c.Across[i].At != p.X {
			t.Errorf("tick %d stands at %v, its point at %v", i, c.Across[i].At, p.X)
		}
	}
	var svg bytes.Buffer
	if err := s.SVG(&svg, "a <title>"); err != nil || !strings.Contains(svg.String(), ">a &lt;title&gt;<") {
		t.Errorf("error %v, title in %s", err, svg.String())
	}
	one := newChart(&Scaling{Over: "threads", Points: s.Points[:1]}, "")
	if p := one.Points[0]; p.X != one.Middle {
		t.Errorf("a single point stands at %v", p.X)
	}
}

func TestOverNodesMakesItsGraphs(t *testing.T) {
	s := &Scaling{Over: "nodes"}
	var required int64
	check := func(bytes int64) error {
		required = bytes
		return nil
	}
	if err := s.AddRMAT(t.Context(), t.TempDir(), 6, 7, &Settings{Columns: 5, Workers: 2, Repeat: 1}, check); err != nil {
		t.Fatal(err)
	}
	if required == 0 {
		t.Error("the memory was not checked")
	}
	if len(s.Points) != 2 || s.Points[0].X != 64 || s.Points[1].Entries <= s.Points[0].Entries {
		t.Errorf("%+v", s.Points)
	}
}

func TestOverNodesEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := (&Scaling{Over: "nodes"}).AddRMAT(ctx, t.TempDir(), 8, 8, &Settings{Columns: 5, Workers: 2, Repeat: 1}, func(int64) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
