package bench

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"testing"
)

func TestScalingMeasuresEveryPoint(t *testing.T) {
	a, degrees := random(t, 300)
	columns, err := OverColumns[float32](context.Background(), a, degrees, []int{1, 5, 8}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	threads, err := OverThreads[float64](context.Background(), a, degrees, 5, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Scaling{columns, threads} {
		if len(s.Points) != 3 {
			t.Fatalf("%d points over %s, want 3", len(s.Points), s.Over)
		}
		for _, p := range s.Points {
			if p.NsPerEntryColumn <= 0 || p.Checksum <= 0 {
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
	if threads.Points[0].Checksum != threads.Points[2].Checksum {
		t.Error("the number of threads changes the checksum")
	}
	if columns.Points[1].Columns != 5 {
		t.Errorf("%d columns, want 5", columns.Points[1].Columns)
	}
}

func TestOverNodesMakesItsGraphs(t *testing.T) {
	s, err := OverNodes[float32](context.Background(), t.TempDir(), []int{6, 8}, 5, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Points) != 2 || s.Points[0].X != 64 || s.Points[1].Entries <= s.Points[0].Entries {
		t.Errorf("%+v", s.Points)
	}
}

func TestOverNodesEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := OverNodes[float32](ctx, t.TempDir(), []int{8}, 5, 2, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
