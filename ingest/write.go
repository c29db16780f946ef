package ingest

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// write is the last stage of a run. It sorts the lines into buckets, merges the lines of each edge, and
// writes the rows in order.
func (e *edgeSorter) write(store *shard.Writer, directed bool) error {
	t := e.t
	numbering := e.numbering
	store.Nodes = numbering.nodes
	sources := make([]shard.File, len(t.files))
	for i := range t.files {
		f := &t.files[i]
		if f.CRC == "" {
			s, _ := textio.SumFile(t.ctx, graphfile.Files(f.Name)...) // files read by random access have no sum yet; other names get none
			f.CRC = s.CRC
			f.Bytes = cmp.Or(s.Bytes, f.Bytes)
		}
		sources[i] = shard.File{Name: f.Name, Bytes: f.Bytes, Lines: f.Lines, CRC: f.CRC}
	}
	store.Manifest.Sources = sources
	kinds := t.describe(&store.Manifest)
	views := []sort.View{sort.Undirected}
	switch {
	case directed && e.names.matrix != nil && e.names.matrix.symmetry == graphfile.Symmetric:
		views = []sort.View{sort.Mirrored, sort.Mirrored}
	case directed && e.c.Signed && e.names.matrix != nil &&
		e.names.matrix.symmetry == graphfile.Skew:
		views = []sort.View{sort.Skew, sort.SkewIncoming}
	case directed:
		views = []sort.View{sort.Outgoing, sort.Incoming}
	}
	rows := numbering.nodes.Len()
	out := &storedRows{w: store, kinds: kinds, occupied: make([]uint64, (rows+63)/64), heavy: func(row int) error {
		id := numbering.orderNodes(e.c.Order).AppendID(nil, row)
		return textio.Fault(t.files[len(t.files)-1].Name, 0, "multiply all weights by a small number",
			"the weights of the edges of %s add up to infinity", words.Quoted(id))
	}}
	for direction, v := range views {
		if direction == 1 {
			if err := store.BeginIn(); err != nil {
				return err
			}
		}
		s := e.sorter(v)
		s.Progress = func(share float64) {
			done := int64((float64(direction) + share) * float64(rows))
			t.progress(writingStage, done, int64(len(views)*rows))
		}
		if direction == len(views)-1 && !s.Values &&
			e.c.Duplicates != ErrorDuplicates {
			s.Forget = e.lines.forget // no lines can disagree
		}
		lines, err := e.planSort(s, 0)
		if err != nil {
			return err
		}
		first := direction == 0
		if first {
			if err := t.checkStore(numbering.nodes, s.Entries(), s.Values, directed); err != nil {
				return err
			}
			t.report.SelfLoops = lines.Loops
			t.report.ZeroWeights = lines.Zeros
			if lines.Zeros > 0 {
				store.Manifest.Options[ZeroWeightsOption] = fmt.Sprint(lines.Zeros)
			}
			t.noteWeight(store.Manifest.Options)
			t.report.UnknownIDs = lines.Unknown - t.report.MissingIDs
		}
		err = s.Each(func(b *sort.Rows) error {
			if err := out.append(b); err != nil {
				return err
			}
			if first {
				t.report.Entries += int64(len(b.Col))
				out.counts.Add(b.Count)
			}
			return nil
		})
		if err != nil {
			return e.explain(err)
		}
	}
	out.complete(t.report, rows, directed)
	if e.addsDirections() && !directed {
		t.report.Added = t.report.Reciprocal
	}
	if n := out.counts.Averaged; n > 0 {
		t.report.Averaged = n
		t.warn(faultAveraged(t.files[0].Name, n))
	}
	if numbering.order != nil {
		system.Collect() // frees entries
		store.Nodes = numbering.orderNodes(e.c.Order)
	}
	return nil
}

// storedRows writes finished buckets to the store and counts their entries.
type storedRows struct {
	w        *shard.Writer
	occupied []uint64            // a bit for each row with an entry
	heavy    func(row int) error // error for a row whose weights have no finite sum
	counts   sort.Count
	weighted bool
	double   bool // some weight is not a float32

	kinds []uint8 // the kind in the store of each number of a kind; nil without kinds and times
	coded codedRow
}

func (o *storedRows) append(b *sort.Rows) error {
	for i := range len(b.Ptr) - 1 {
		lo, hi := b.Ptr[i], b.Ptr[i+1]
		var val []float64
		if b.Val != nil {
			val = b.Val[lo:hi]
		}
		col := b.Col[lo:hi]
		code := []uint32(nil)
		if o.kinds != nil {
			col, val, code = o.coded.unpack(col, val, o.kinds)
		}
		sum := 0.
		for _, x := range val {
			o.weighted = o.weighted || x != 1
			o.double = o.double || float64(float32(x)) != x
			sum += math.Abs(x)
		}
		row := b.Lo + i
		if math.IsInf(sum, 0) {
			return o.heavy(row)
		}
		if err := o.w.Append(col, val, code); err != nil {
			return err
		}
		if hi > lo {
			o.occupied[row/64] |= 1 << (row % 64)
		}
	}
	return nil
}

func (o *storedRows) complete(report *Report, rows int, directed bool) {
	report.Nodes = int64(rows)
	report.Directed = directed
	report.Weighted = o.weighted
	report.Weights = "none"
	switch {
	case o.double:
		report.Weights = "float64"
	case o.weighted:
		report.Weights = "float32"
	}
	report.Duplicates = o.counts.Duplicates
	report.Reciprocal = o.counts.Reciprocal
	report.Edges = report.Entries
	if !directed {
		report.Edges = (report.Entries + o.counts.Loops) / 2
	}
	report.Isolated = int64(rows)
	for _, word := range o.occupied {
		report.Isolated -= int64(bits.OnesCount64(word))
	}
}
