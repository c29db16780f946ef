package bench

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/internal/report/reporttest"
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
		reporttest.WellFormed(t, &svg)
	}
	if *threads.Points[0].Checksum != *threads.Points[2].Checksum {
		t.Error("the number of threads changes the checksum")
	}
	if columns.Points[1].Columns != 2 {
		t.Errorf("%d columns, want 2", columns.Points[1].Columns)
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
