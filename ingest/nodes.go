package ingest

import (
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
)

// readNodes reads the list of nodes. It keeps the ids in separate parts while all ids are small numbers, and
// otherwise in the dictionary.
func (r *reader) readNodes() error {
	in, err := r.open(r.c.Nodes)
	if err != nil {
		return err
	}
	r.t.files[0].Format = "node list"
	var last int64 // number of the last line
	defer func() { r.close(in, 0, last) }()
	var b lines.IDBatch
	var code []uint32
	list := &nodefile.Reader{Name: in.Name(), Header: r.c.Header, Text: r.c.Text,
		Options: textio.Options{Warn: r.t.warn}}
	listed := 0
	flush := func() error {
		if len(code) > 0 {
			p := &part{seq: r.names.seq, code: slices.Clone(code),
				top: sort.Largest(code)}
			r.names.listed = append(r.names.listed, p)
			r.lines.top = max(r.lines.top, p.top)
			r.lines.held += p.bytes()
		}
		if b.Len() > 0 {
			if err := r.names.codes(&part{seq: r.names.seq},
				make([]uint32, b.Len()), nil, &b); err != nil {
				return err
			}
			if err := r.m.fits(0); err != nil {
				return err
			}
		}
		listed += len(code) + b.Len()
		r.names.seq++
		code = code[:0]
		b.Reset()
		return nil
	}
	for row, err := range list.Rows(in) {
		if err != nil {
			return err
		}
		last = row.Line
		if id, ok := lines.SmallNumber(row.ID()); ok && !r.names.useDict.Load() {
			code = append(code, id)
		} else {
			if err := r.noNumbers(flush); err != nil {
				return err
			}
			b.AddCopy(r.names.dict, 0, row.ID())
		}
		if len(code)+b.Len() == 1<<15 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	r.t.files[0].Columns = list.Columns
	r.names.listedIDs = r.names.distinctListed()
	if repeated := listed - r.names.listedIDs; repeated > 0 {
		r.t.warn(fmt.Errorf("%s: lines with an id that is listed already: %d",
			in.Name(), repeated))
	}
	r.names.listedParts = r.names.seq
	return nil
}

// noNumbers moves the nodes that were read from the list so far to the dictionary.
func (r *reader) noNumbers(flush func() error) error {
	if r.names.useDict.Load() {
		return nil
	}
	if err := flush(); err != nil {
		return err
	}
	r.names.useDict.Store(true)
	return r.m.moveListed()
}
