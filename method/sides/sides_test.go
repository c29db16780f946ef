package sides_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// drawn returns a store of n nodes with kinds, times and, unless spread is 0, log-normal amounts of deviation spread, and
// labels of a fifth of its nodes. same is the probability that an edge joins equal classes only; classes depend on the time.
func drawn(t *testing.T, n int, directed bool, spread float64, edge func(rng *rand.Rand) (kind string, time int, same float64)) (*sides.Edges, *sides.Labels) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	const classes = 3
	class := make([]int, n)
	for i := range class {
		class[i] = rng.IntN(classes)
	}
	var b strings.Builder
	for range 6 * n {
		kind, time, same := edge(rng)
		u, v := rng.IntN(n), rng.IntN(n)
		for isSame := rng.Float64() < same; isSame && class[u] != class[v]; {
			v = rng.IntN(n)
		}
		fmt.Fprintf(&b, "%d %d %s %d %g\n", u, v, kind, time, math.Exp(spread*rng.NormFloat64()))
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "e.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "g")
	c := &ingest.Config{Kind: "3", Time: "4", Fields: []string{"1", "2"}, Directed: directed, Workers: 1}
	if spread > 0 {
		c.Fields = append(c.Fields, "5")
		c.Duplicates = ingest.SumDuplicates
	}
	if _, err := ingest.Run(context.Background(), store, []string{path}, c); err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(context.Background(), store, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l := &sides.Labels{Classes: classes}
	for i := 0; i < n; i += 5 {
		if row, ok := s.Nodes.Lookup(fmt.Sprint(i)); ok {
			l.Row, l.Class = append(l.Row, row), append(l.Class, class[i])
		}
	}
	deal(l, 1)
	return &sides.Edges{Store: s, Options: new(sides.Options)}, l
}

func deal(l *sides.Labels, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	l.Fold = make([]int, len(l.Row))
	for i, position := range rng.Perm(len(l.Row)) {
		l.Fold[position] = i % sides.Folds
	}
}

// The first of three kinds joins equal classes with the given probability.
func kinds(same float64) func(rng *rand.Rand) (string, int, float64) {
	return func(rng *rand.Rand) (string, int, float64) {
		if rng.IntN(3) == 0 {
			return "friend", 0, same
		}
		return []string{"noise", "spam"}[rng.IntN(2)], 0, 0
	}
}

func TestKindsAreChosen(t *testing.T) {
	for _, directed := range []bool{false, true} {
		e, l := drawn(t, 600, directed, 0, kinds(0.9))
		numbers := &sides.Labels{Row: l.Row, Fold: l.Fold}
		for _, class := range l.Class {
			numbers.Value = append(numbers.Value, 3*float64(class))
		}
		for _, l := range []*sides.Labels{l, numbers} {
			c, err := e.Choose(t.Context(), l, []shard.Values{shard.Given}, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if c.Kinds[0] != 1 || max(c.Kinds[1], c.Kinds[2]) > 0.3 {
				t.Errorf("directed %t: weights %v", directed, c.Kinds)
			}
			for _, memory := range []int64{0, 1 << 16} {
				again, err := (&sides.Edges{Store: e.Store, Options: e.Options}).Choose(t.Context(), l, []shard.Values{shard.Given}, memory, 3)
				if err != nil || !slices.Equal(again.Kinds, c.Kinds) {
					t.Errorf("other weights %v with 3 workers, %d bytes: %v", again, memory, err)
				}
			}
			if known, err := e.Choose(t.Context(), l, []shard.Values{shard.Given}, 0, 0); err != nil || known != c {
				t.Errorf("the same labels choose again: %v", err)
			}
		}
	}
	equal := func(rng *rand.Rand) (string, int, float64) { return []string{"a", "b", "c"}[rng.IntN(3)], 0, 0.6 }
	e, l := drawn(t, 600, false, 0, equal)
	if c, err := e.Choose(t.Context(), l, []shard.Values{shard.Given}, 0, 0); err != nil || !slices.Equal(c.Kinds, []float64{1, 1, 1}) {
		t.Errorf("weights %v of equal kinds, %v", c, err)
	}
	given := &sides.Edges{Store: e.Store, Options: &sides.Options{Kinds: map[string]float64{"a": 0.5}}}
	if c, err := given.Choose(t.Context(), l, []shard.Values{shard.Given}, 0, 0); err != nil || !slices.Equal(c.Book.Kinds, []float64{0.5, 1, 1}) || given.IsOpen() {
		t.Errorf("weights %v, given 0.5, 1, 1, %v", c, err)
	}
}

func TestAmountsDoNotDisturbKinds(t *testing.T) {
	functions := []shard.Values{shard.Given, shard.Ones, shard.Logs}
	for _, same := range []float64{0.8, 0} {
		e, l := drawn(t, 600, false, 2, kinds(same))
		found := 0
		for seed := range uint64(3) {
			deal(l, seed)
			c, err := e.Choose(t.Context(), l, functions, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if isEqual := slices.Min(c.Kinds) == 1; isEqual != (same > 0) && (isEqual || c.Kinds[0] == 1 && c.Book.Values != shard.Given) {
				found++
			}
		}
		if found < 2 {
			t.Errorf("a kind that joins equal classes with probability %v: right weights for %d of 3 draws of the folds", same, found)
		}
	}
}

func TestFactorsAreRestored(t *testing.T) {
	e, _ := drawn(t, 100, false, 0, func(rng *rand.Rand) (string, int, float64) {
		return []string{"a", "b", "c"}[rng.IntN(3)], rng.IntN(9), 0.6
	})
	kept := &sides.Kept{Kinds: map[string]float64{"a": 0.25, "c": 2, "z": 7}, HalfLife: 3}
	weights := map[string]float64{"a": 0.25, "b": 1, "c": 2}
	c, err := e.Restore(kept)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.Restore(c.Keep()); err != nil || c.HalfLife != 3 || !maps.Equal(c.ByName(), weights) || !maps.Equal(again.ByName(), weights) || !slices.Equal(again.Book.Times, c.Book.Times) || again.HalfLife != 3 {
		t.Errorf("%v, half-life %v; kept again %v", c.ByName(), c.HalfLife, again.Keep())
	}
	given := &sides.Edges{Store: e.Store, Options: &sides.Options{Kinds: map[string]float64{"b": 4}}}
	if c, err := given.Restore(kept); err != nil || !maps.Equal(c.ByName(), map[string]float64{"a": 1, "b": 4, "c": 1}) || c.HalfLife != 3 {
		t.Errorf("%v, half-life %v; the kind b has the given weight 4", c.ByName(), c.HalfLife)
	}
}

// In one draw of five chance has two standard errors.
func TestHalfLifeIsChosen(t *testing.T) {
	for _, isDrifting := range []bool{true, false} {
		e, l := drawn(t, 2500, false, 0, func(rng *rand.Rand) (string, int, float64) {
			time, same := rng.IntN(100), 0.7
			if isDrifting {
				same = max(0, float64(time-60)/40)
			}
			return "x", time, same
		})
		e.Options = &sides.Options{HalfLife: sides.ChosenHalfLife}
		var chosen []float64
		wrong := 0
		for seed := range uint64(5) {
			deal(l, seed)
			c, err := e.Choose(t.Context(), l, []shard.Values{shard.Given}, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			chosen = append(chosen, c.HalfLife)
			if isDrifting != (c.HalfLife < 40) || isDrifting == math.IsInf(c.HalfLife, 1) {
				wrong++
			}
		}
		if wrong > 1 {
			t.Errorf("drifting %t: half-lives %v", isDrifting, chosen)
		}
	}
}

func TestOptions(t *testing.T) {
	m := &shard.Manifest{Kinds: []shard.Kind{{Name: "pays"}, {Name: "calls"}}, Times: &shard.Times{Unit: "day", First: 45291, Last: 45294}}
	for _, c := range []struct {
		o     sides.Options
		times []float64
		wrong string
	}{
		{sides.Options{Since: "2024-01-03"}, []float64{0, 1, 1, 1}, ""},
		{sides.Options{Until: "2024-01-04", HalfLife: "1d"}, []float64{0.25, 0.5, 1, 0}, ""},
		{sides.Options{Since: "2024-01", Until: "2024-01"}, []float64{1, 1, 1, 1}, ""},
		{sides.Options{Until: "3/5/2024"}, nil, `until: "3/5/2024" is not a time; times are dates such as 2024-01-31, 11:26, or whole numbers from 0 to 65535`},
		{sides.Options{HalfLife: "0.5"}, []float64{1. / 64, 1. / 16, 1. / 4, 1}, ""},
		{sides.Options{HalfLife: sides.ChosenHalfLife}, nil, ""},
		{sides.Options{Since: "2025-01-01"}, nil, "since: no edge is in the window; edges are from 2024-01-02 to 2024-01-05"},
		{sides.Options{Since: "7"}, nil, "since: 7 is a step, and edges have days from 2024-01-02 to 2024-01-05"},
		{sides.Options{HalfLife: "-1d"}, nil, `half-life: "-1d" is not a time; give a number of days, a time such as 30d, 4w or 1y, or choose`},
		{sides.Options{Kinds: map[string]float64{"pay": 1}}, nil, `kind-weights: there is no kind "pay"; choose from pays`},
		{sides.Options{Kinds: map[string]float64{"pays": -1}}, nil, "kind-weights: pays=-1; give a finite weight ≥ 0"},
	} {
		err := c.o.Check(m)
		var wrong *param.ParameterError
		if text := fmt.Sprint(err); c.wrong != "" && (!errors.As(err, &wrong) || text != "edges: "+c.wrong) || c.wrong == "" && err != nil {
			t.Errorf("%+v: error %v, want %s", c.o, err, c.wrong)
		}
		if err != nil {
			continue
		}
		var times []float64
		if book := c.o.Book(m); book != nil {
			times = book.Times
		}
		if !slices.Equal(times, c.times) {
			t.Errorf("%+v: factors %v, want %v", c.o, times, c.times)
		}
	}
}
