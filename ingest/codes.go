package ingest

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func (c *Config) hasCodes() bool {
	return c.Kind != "" || c.Time != ""
}

func packCodes(name string, b *graphfile.Batch) ([]float64, error) {
	packed := make([]float64, len(b.Code))
	for i, code := range b.Code {
		w := 1.0
		if len(b.Weight) > 0 {
			w = b.Weight[i]
		}
		if !sort.IsPackable(w) {
			return nil, textio.Fault(name, 0, "multiply all weights by a number",
				"weight %g "+lines.OutOfRange, w)
		}
		packed[i] = sort.Pack(w, code)
	}
	return packed, nil
}

func (t *task) checkKinds() error {
	names := t.codes.Names
	if len(names) <= shard.MaxKinds {
		if warning := table.AlikeWarning("", "kind", slices.Values(names), func(name string) bool { return slices.Contains(names, name) }); warning != nil {
			t.warn(warning)
		}
		return nil
	}
	return textio.Fault(t.files[len(t.files)-1].Name, 0, "join rare kinds in the column of {kind}, or leave {kind} out",
		"%s of edges in the column %s; a store has at most %d",
		words.Counted(len(names), "kind"), words.Quoted(t.c.Kind), shard.MaxKinds)
}

// describe adds the kinds, sorted by name, and the unit of times to a manifest. It returns the index in the
// manifest of each kind, by the number that [lines.Codes] gave the kind.
func (t *task) describe(m *shard.Manifest) (kinds []uint8) {
	if !t.c.hasCodes() {
		return nil
	}
	kinds = make([]uint8, shard.MaxKinds)
	if t.c.Kind != "" {
		names := slices.Sorted(slices.Values(t.codes.Names))
		for i, name := range names {
			m.Kinds = append(m.Kinds, shard.Kind{Name: name})
			kinds[slices.Index(t.codes.Names, name)] = uint8(i)
		}
	}
	if t.c.Time != "" {
		m.Times = &shard.Times{Unit: cmp.Or(t.codes.Unit, "step"),
			First: math.MaxUint16}
	}
	return kinds
}

type codedRow struct {
	entries []codedEntry
	col     []uint32
	val     []float64
	code    []uint32
}

type codedEntry struct {
	col, code uint32
	weight    float64
}

// unpack separates the packed weights of a row from their codes, and sorts the entries by column and code.
// kinds has the index in the manifest of each kind. The slices are valid until the next call.
func (r *codedRow) unpack(col []uint32, packed []float64,
	kinds []uint8) (columns []uint32, val []float64, code []uint32) {
	r.entries = r.entries[:0]
	for e, v := range packed {
		weight, c := sort.Unpack(v)
		r.entries = append(r.entries,
			codedEntry{col[e], c&^0xff | uint32(kinds[c&0xff]), weight})
	}
	slices.SortFunc(r.entries,
		func(a, b codedEntry) int { return cmp.Or(cmp.Compare(a.col, b.col), cmp.Compare(a.code, b.code)) })
	r.col = r.col[:0]
	r.val = r.val[:0]
	r.code = r.code[:0]
	for _, e := range r.entries {
		r.col = append(r.col, e.col)
		r.val = append(r.val, e.weight)
		r.code = append(r.code, e.code)
	}
	return r.col, r.val, r.code
}
