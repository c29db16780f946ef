package heatwalk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/method/regression"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// fixtures are models of the current and the previous formats.
var fixtures = []string{"testdata/format/model/v2-auto", "testdata/format/model/v2-kernel",
	"testdata/format/model/v3-auto", "testdata/format/model/v3-origin", "testdata/format/model/v4-kernel"}

// Fixtures of the current format are also written to the same bytes.
func TestFixtures(t *testing.T) {
	for _, path := range fixtures {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := LoadModel(path)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := f.Write(&got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) && strings.Contains(path, "v4") {
			t.Errorf("%s: written as\n%s\nread\n%s", path, got.Bytes(), want)
		}
		rows, err := f.Rows(func(id string) (int, bool) { return len(id), true })
		if err != nil || len(rows) != len(f.IDs) {
			t.Errorf("%s: rows %v, %v", path, rows, err)
		}
		if _, err := f.Rows(func(string) (int, bool) { return 0, false }); !errors.As(err, new(*input.Error)) {
			t.Errorf("%s: unknown nodes: %v", path, err)
		}
	}
}

func TestModelOfNumbers(t *testing.T) {
	g := openKarate(t, nil)
	p, err := g.Regress(t.Context(), map[string]float64{"1": 10, "2": 8, "3": 7, "33": 1, "34": 2}, "lgc,hops")
	if err != nil {
		t.Fatal(err)
	}
	sets, err := Predict(t.Context(), g, NewProblem(g, []int{0, 0, 1, 4, 8, 9}, []int{0, 1, 0, 1, 1, 0}, []string{"a", "b"}), regression.Spectral, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []*Prediction{p, sets} {
		path := filepath.Join(t.TempDir(), "model")
		if err := want.Save(path); err != nil {
			t.Fatal(err)
		}
		f, err := LoadModel(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Predict(t.Context(), g, nil)
		if err != nil || !slices.Equal(got.Value, want.Value) || want.Value == nil && !slices.Equal(got.Prediction.Scores.Data, want.Prediction.Scores.Data) {
			t.Errorf("a kept model predicts otherwise: %v", err)
		}
		if err := want.WriteTo(t.Context(), new(bytes.Buffer), ".csv"); !errors.As(err, new(*param.ParameterError)) || want.Value != nil && want.Label("1") != "" {
			t.Errorf("written as classes: %v", err)
		}
	}
}

func TestDamage(t *testing.T) {
	text, err := os.ReadFile(fixtures[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model")
	refused := func(what string, at int, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadModel(path); !errors.As(err, new(*shard.CorruptError)) && !errors.Is(err, shard.ErrVersion) && !errors.As(err, new(*input.Error)) {
			t.Fatalf("%s at %d: %v", what, at, err)
		}
	}
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		refused("a changed byte", i, changed)
		refused("cut", i, text[:i])
	}
	for what, change := range map[string]func(f *Model){
		"two labels of a node":    func(f *Model) { f.IDs[1] = f.IDs[0] },
		"more classes":            func(f *Model) { f.Class = append(f.Class, 0) },
		"no such class":           func(f *Model) { f.Class[0] = len(f.Classes) },
		"a class without a label": func(f *Model) { f.Classes = append(f.Classes, "new") },
		"a share below 0":         func(f *Model) { f.Shares = make([]float64, len(f.Classes)); f.Shares[0] = -1 },
		"shares of other classes": func(f *Model) { f.Shares = make([]float64, len(f.Classes)+1) },
		"no model":                func(f *Model) { f.Model = nil },
	} {
		f, err := LoadModel(fixtures[0])
		if err != nil {
			t.Fatal(err)
		}
		change(f)
		var forged bytes.Buffer
		if err := f.Write(&forged); err != nil {
			t.Fatal(err)
		}
		refused(what, 0, forged.Bytes())
	}
	if _, err := LoadModelWithin(fixtures[0], 100); !errors.Is(err, sparse.ErrMemory) {
		t.Errorf("above the limit: %v", err)
	}
}

func TestTextOfOtherEncodings(t *testing.T) {
	if err := (&Model{IDs: []string{"\xff"}}).CheckText(); !errors.Is(err, errModelText) || !strings.Contains(err.Error(), `"\xff"`) {
		t.Errorf("error %v", err)
	}
}
