package ingest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	bucket "github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// coded reports whether edges have kinds or times.
func (c *Config) coded() bool { return c.Kind != "" || c.Time != "" }

// packCodes returns the weights of the edges of a batch of a file, packed with their codes.
func packCodes(name string, b *graphfile.Batch) ([]float64, error) {
	packed := make([]float64, len(b.Code))
	for i, code := range b.Code {
		w := 1.0
		if len(b.Weight) > 0 {
			w = b.Weight[i]
		}
		if !bucket.IsPackable(w) {
			return nil, &nodefile.ParseError{File: name, Msg: fmt.Sprintf("weight %g "+lines.OutOfRange, w), Fix: "multiply all weights by a number"}
		}
		packed[i] = bucket.Pack(w, code)
	}
	return packed, nil
}

// checkKinds returns the error of more kinds than a store can have.
func (t *task) checkKinds() error {
	names := t.codes.Names()
	if len(names) <= shard.MaxKinds {
		return nil
	}
	return &nodefile.ParseError{File: t.files[len(t.files)-1].Name, Msg: fmt.Sprintf("%s of edges in the column %s; a store has at most %d", table.Counted(len(names), "kind"), table.Quoted(t.c.Kind), shard.MaxKinds),
		Fix: "join rare kinds in the column of {kind}, or leave {kind} out"}
}

// describe describes kinds, in the order of their names, and times in a manifest. It returns the kind of each number,
// nil without kinds and times.
func (t *task) describe(m *shard.Manifest) (kinds []uint8) {
	if !t.c.coded() {
		return nil
	}
	kinds = make([]uint8, shard.MaxKinds)
	if t.c.Kind != "" {
		names := slices.Sorted(slices.Values(t.codes.Names()))
		for i, name := range names {
			m.Kinds = append(m.Kinds, shard.Kind{Name: name})
			kinds[slices.Index(t.codes.Names(), name)] = uint8(i)
		}
	}
	if t.c.Time != "" {
		m.Times = &shard.Times{Unit: cmp.Or(t.codes.Unit(), "step"), First: math.MaxUint16}
	}
	return kinds
}

// codedRow is a row with codes. It implements [sort.Interface].
type codedRow struct {
	col  []uint32
	val  []float64
	code []uint32
}

// unpack returns a row with the codes that its values are packed with, and with kinds of the store. The result is valid
// until the next call.
func (r *codedRow) unpack(col []uint32, packed []float64, kinds []uint8) (columns []uint32, val []float64, code []uint32) {
	r.col = append(r.col[:0], col...)
	r.val = r.val[:0]
	r.code = r.code[:0]
	for _, v := range packed {
		weight, c := bucket.Unpack(v)
		r.val = append(r.val, weight)
		r.code = append(r.code, c&^0xff|uint32(kinds[c&0xff]))
	}
	if !sort.IsSorted(r) {
		sort.Sort(r)
	}
	return r.col, r.val, r.code
}

// Len implements [sort.Interface].
func (r *codedRow) Len() int { return len(r.col) }

// Less implements [sort.Interface].
func (r *codedRow) Less(i, j int) bool {
	return r.col[i] < r.col[j] || r.col[i] == r.col[j] && r.code[i] < r.code[j]
}

// Swap implements [sort.Interface].
func (r *codedRow) Swap(i, j int) {
	r.col[i], r.col[j] = r.col[j], r.col[i]
	r.val[i], r.val[j] = r.val[j], r.val[i]
	r.code[i], r.code[j] = r.code[j], r.code[i]
}
