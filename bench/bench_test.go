package bench

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// random returns a symmetric graph with about 4 entries a row and some empty rows.
func random(t *testing.T, n int) (*sparse.CSR, []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 0))
	seen := map[[2]uint32]bool{}
	var entries []sparse.Triplet
	for range 2 * n {
		u, v := uint32(rng.IntN(n)), uint32(rng.IntN(n))
		if u == v || u%10 == 9 || v%10 == 9 || seen[[2]uint32{u, v}] {
			continue
		}
		seen[[2]uint32{u, v}], seen[[2]uint32{v, u}] = true, true
		entries = append(entries, sparse.Triplet{Row: u, Col: v, Val: 1}, sparse.Triplet{Row: v, Col: u, Val: 1})
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	degrees, err := sparse.Degrees(context.Background(), a, 1)
	if err != nil {
		t.Fatal(err)
	}
	return a, degrees
}

func TestSpMMChecksum(t *testing.T) {
	const n, k = 300, 5
	a, degrees := random(t, n)
	var want float64
	a.DoNonZero(func(i, c int, v float64) {
		for j := range k {
			want += v / degrees[i] * float64((c*k+j)%17+1)
		}
	})
	for _, workers := range []int{1, 2, 7} {
		got, err := spmm(t.Context(), &Target{A: a, Degrees: degrees}, &Settings{Columns: k, Double: true, Workers: workers, Repeat: 1})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(*got.Checksum-want) > 1e-12*want {
			t.Errorf("%d workers: checksum %v, want %v", workers, *got.Checksum, want)
		}
		if got.Entries != a.NNZ() || got.SecondsMin <= 0 {
			t.Errorf("report is incomplete: %+v", got)
		}
	}
}

func TestChecksumsFollowTheDefaultOrder(t *testing.T) {
	const n, k = 300, 3
	a, degrees := random(t, n)
	perm := rand.New(rand.NewPCG(8, 0)).Perm(n) // row r of the permuted graph is row perm[r] of a
	place := make([]uint32, n)
	for r, i := range perm {
		place[i] = uint32(r)
	}
	var entries []sparse.Triplet
	a.DoNonZero(func(i, j int, v float64) {
		entries = append(entries, sparse.Triplet{Row: place[i], Col: place[j], Val: v})
	})
	b, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	permuted, order := make([]float64, n), make([]uint32, n)
	for r, i := range perm {
		permuted[r], order[r] = degrees[i], uint32(i)
	}
	s := &Settings{Columns: k, Double: true, Workers: 1, Repeat: 1}
	plain, turned := &Target{A: a, Degrees: degrees}, &Target{A: b, Degrees: permuted, Order: order}
	want, err := spmm(t.Context(), plain, s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := spmm(t.Context(), turned, s)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(*got.Checksum-*want.Checksum) > 1e-12**want.Checksum {
		t.Errorf("product: checksum %v in another order, %v in the default one", *got.Checksum, *want.Checksum)
	}
	if want, err = walk(t.Context(), plain, s); err != nil {
		t.Fatal(err)
	}
	if got, err = walk(t.Context(), turned, s); err != nil {
		t.Fatal(err)
	}
	if math.Abs(*got.Checksum-*want.Checksum) > 1e-12**want.Checksum {
		t.Errorf("walk: checksum %v in another order, %v in the default one", *got.Checksum, *want.Checksum)
	}
}

func TestWalkChecksum(t *testing.T) {
	const n, classes = 300, 5
	a, degrees := random(t, n)
	p := make([][classes]float64, n)
	for i := range p {
		for c := range classes {
			p[i][c] = 1. / classes
			if i%20 == 0 {
				p[i][c] = 0
			}
		}
		if i%20 == 0 {
			p[i][i/20%classes] = 1
		}
	}
	for range 10 {
		next := make([][classes]float64, n)
		a.DoNonZero(func(i, j int, v float64) {
			for c := range classes {
				next[i][c] += v / degrees[i] * p[j][c]
			}
		})
		for i := 0; i < n; i += 20 {
			for c := range classes {
				next[i][c] *= .5
			}
			next[i][i/20%classes] += .5
		}
		p = next
	}
	var want float64
	for i := range p {
		for c := range classes {
			want += p[i][c] * float64((31*i+17*c)%101)
		}
	}
	got, err := walk(t.Context(), &Target{A: a, Degrees: degrees}, &Settings{Double: true, Workers: 2, Repeat: 1})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(*got.Checksum-want) > 1e-12*want {
		t.Errorf("checksum %v, want %v", *got.Checksum, want)
	}
}

func TestDecodeChecksum(t *testing.T) {
	a, _ := random(t, 300)
	var want float64
	a.DoNonZero(func(_, j int, _ float64) { want += float64(j) })
	got, err := decode(t.Context(), &Target{A: a}, &Settings{Workers: 2, Repeat: 1})
	if err != nil {
		t.Fatal(err)
	}
	if *got.Checksum != want {
		t.Errorf("checksum %v, want %v", *got.Checksum, want)
	}
}
