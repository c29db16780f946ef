package heatwalk_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/sparsetest"
)

// coraStore returns the folder of a store of Cora, and some labels.
func coraStore(t *testing.T) (dir string, labels map[string]string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "cora")
	if _, err := ingest.Run(t.Context(), dir, []string{filepath.Join("testdata", "cora", "edges.tsv.gz")}, new(ingest.Config)); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join("testdata", "cora", "labels.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	labels = map[string]string{}
	lines := bufio.NewScanner(text)
	for n := 0; lines.Scan(); n++ {
		if id, label, ok := strings.Cut(lines.Text(), "\t"); ok && n%10 == 1 {
			labels[id] = label
		}
	}
	return dir, labels
}

// together runs a job in one process and in several, on the same store.
func together(t *testing.T, dir string, processes int, job func(g *heatwalk.Graph) error) error {
	return sparsetest.Processes(processes, func(n sparse.Network) error {
		g, err := heatwalk.Open(t.Context(), dir, &heatwalk.Options{Network: n, Workers: 2, Defer: true})
		if err != nil {
			return err
		}
		defer g.Close()
		err = job(g)
		if n.Rank() > 0 && errors.Is(err, heatwalk.ErrFollower) {
			return nil
		}
		if err == nil && n.Rank() > 0 {
			return fmt.Errorf("process %d: no error", n.Rank())
		}
		return err
	})
}

// Predictions of several processes are those of one, but for rounding.
func TestClassifyOnSeveralProcesses(t *testing.T) {
	dir, labels := coraStore(t)
	methods := os.Getenv("HEATWALK_METHODS")
	if methods == "" {
		methods = "lp:steps=20"
	}
	for _, name := range strings.Split(methods, ",") {
		t.Run(name, func(t *testing.T) {
			one, err := heatwalk.Open(t.Context(), dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer one.Close()
			o := &heatwalk.ClassifyOptions{Method: name}
			want, err := one.Classify(t.Context(), labels, o)
			if err != nil {
				t.Fatal(err)
			}
			err = together(t, dir, 3, func(g *heatwalk.Graph) error {
				got, err := g.Classify(t.Context(), labels, o)
				if err != nil {
					return err
				}
				if math.Abs(got.Accuracy-want.Accuracy) > 0.005 {
					return fmt.Errorf("accuracy %v, want %v", got.Accuracy, want.Accuracy)
				}
				other := 0
				for _, id := range one.IDs() {
					if got.Label(id) != want.Label(id) {
						other++
					}
				}
				if other > len(one.IDs())/200 {
					return fmt.Errorf("%d of %d nodes have another label", other, len(one.IDs()))
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
