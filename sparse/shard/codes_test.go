package shard

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse"
)

type codedRow struct {
	col  []uint32
	val  []float64
	code []uint32
}

// relations returns the rows and columns of a directed store. The edges 0–1 have two kinds and two times.
func relations(hub int) (out, in []codedRow) {
	out = make([]codedRow, max(4, hub))
	out[0] = codedRow{
		[]uint32{1, 1, 1, 2}, []float64{1, 2, 1, 0.5},
		[]uint32{CodeOf(0, 10), CodeOf(1, 10), CodeOf(0, 12), CodeOf(1, 11)},
	}
	for c := 3; c < hub; c++ {
		out[0].col, out[0].val, out[0].code = append(out[0].col, uint32(c)), append(out[0].val, 1), append(out[0].code, CodeOf(uint8(c%2), 11))
	}
	out[1] = codedRow{[]uint32{1, 1}, []float64{1, 1}, []uint32{CodeOf(0, 10), CodeOf(1, 10)}}
	in = make([]codedRow, len(out))
	for i, r := range out {
		for e, c := range r.col {
			in[c].col, in[c].val, in[c].code = append(in[c].col, uint32(i)), append(in[c].val, r.val[e]), append(in[c].code, r.code[e])
		}
	}
	return out, in
}

func writeRelations(t *testing.T, dir string, hub int, o WriteOptions) error {
	t.Helper()
	o.Directed = true
	w := must(Create(dir, &o))
	defer w.Abort()
	w.Manifest.Kinds, w.Manifest.Times = []Kind{{Name: "calls"}, {Name: "pays"}}, &Times{Unit: "day", First: 10, Last: 10}
	out, in := relations(hub)
	for i, rows := range [][]codedRow{out, in} {
		if i == 1 {
			must(0, w.BeginIn())
		}
		for _, r := range rows {
			if err := w.Append(r.col, r.val, r.code); err != nil {
				return err
			}
		}
	}
	return w.Commit(bg)
}

func TestCodes(t *testing.T) {
	for _, hub := range []int{0, sparse.MaxRange + 10} {
		mem := durabletest.NewMem()
		must(0, writeRelations(t, "g", hub, WriteOptions{fs: mem}))
		must(verify(bg, "g", &Options{fs: mem}))
		for _, stream := range []bool{false, true} {
			s := must(Open(bg, "g", &Options{fs: mem, Stream: stream}))
			m := s.Manifest
			if m.SelfLoops != 2 || m.Times.First != 10 || m.Times.Last != 12 || m.Kinds[0].Entries+m.Kinds[1].Entries != m.Entries {
				t.Errorf("manifest %+v, times %+v", m, m.Times)
			}
			plain := must(sparse.Degrees(bg, s, 1))
			if !slices.Equal(plain, s.Degrees) {
				t.Error("other degrees")
			}
			a, back := ApplyCodebook(s, &Codebook{Kinds: []float64{0.5, 0.1}, Times: []float64{1, 1, 0.25}})
			want := 0.5 + 2*0.1 + 0.125 + 0.5*0.1
			for c := 3; c < hub; c++ {
				want += []float64{0.5, 0.1}[c%2]
			}
			if got := must(sparse.Degrees(bg, a, 2))[0]; got-want > 1e-9 || want-got > 1e-9 {
				t.Errorf("weighed degree %v, want %v", got, want)
			}
			if got, want := must(sparse.Degrees(bg, back, 2))[1], 0.5+2*0.1+0.125+0.5+0.1; got != want {
				t.Errorf("weighed column %v, want %v", got, want)
			}
			sweeper := &Sweeper{Store: s, A: s}
			must(0, Weigh(bg, sweeper, &Codebook{Kinds: []float64{1, 0}}))
			if got, want := s.Degrees[1], 1.0; got != want {
				t.Errorf("degree %v without a kind, want %v", got, want)
			}
			must(sweeper.KeepOnDisk()) // frames are decoded anew
			if got := must(sparse.Degrees(bg, sweeper.A, 2)); !slices.Equal(got, s.Degrees) {
				t.Error("other degrees from disk")
			}
			in := must(sparse.Degrees(bg, must(sweeper.Transpose(bg)), 2))
			if got, want := in[1], 3.0; got != want { // two entries of kind 0 in row 0, and one in row 1
				t.Errorf("column %v without a kind, want %v", got, want)
			}
			must(0, s.Close())
		}
	}
}

func TestWrongCodes(t *testing.T) {
	for _, code := range [][]uint32{{1, 1}, {1, 0}} {
		w := must(Create("g", &WriteOptions{fs: durabletest.NewMem()}))
		w.Manifest.Kinds = []Kind{{Name: "a"}, {Name: "b"}}
		if err := w.Append([]uint32{1, 1}, nil, code); err == nil {
			t.Errorf("codes %v of one column are accepted", code)
		}
		must(0, w.Abort())
	}
	for want, m := range map[string]Manifest{
		`kind "" of 0 entries`:      {Kinds: []Kind{{}}},
		`kind "a" of 1 entries`:     {Kinds: []Kind{{"a", 1}, {"a", 1}}, Entries: 2},
		"1 kinds without 1 entries": {Kinds: []Kind{{"a", 1}}, Entries: 2},
		"times {Unit:year":          {Times: &Times{Unit: "year"}},
	} {
		if got := m.wrongCodes(); !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %q, want %q", m, got, want)
		}
	}
}

func TestCodedFixture(t *testing.T) {
	dir := filepath.Join(fixtures, "v2", "relations")
	if *update {
		must(0, writeRelations(t, dir, 0, WriteOptions{Identity: 0xe5, Force: true}))
	}
	must(verify(bg, dir, nil))
	s := must(Open(bg, dir, nil))
	defer s.Close()
	var got string
	must(0, sparse.Sweep(bg, s, 1, func(_ int, p sparse.Panel) error {
		got += fmt.Sprint(p.Col, p.Val)
		for i := range p.Hi - p.Lo {
			got += fmt.Sprint(p.AppendCodes(nil, i))
		}
		return nil
	}))
	if want := "[1 1 1 2 1 1] [1 2 1 0.5 1 1][2560 2561 3072 2817][2560 2561][][]"; got != want {
		t.Errorf("entries %s, want %s", got, want)
	}
}
