package ingest

import (
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
)

// names holds the ids of the nodes while files are read. They are bits of a bitmap while all ids are small
// integers, and otherwise places in a dictionary. If a matrix numbers its nodes, they are its rows.
type names struct {
	t           *task
	seq         int // number of chunks read
	listedParts int
	listedIDs   int
	listed      []*part // the list of nodes, while its ids are numbers
	useDict     atomic.Bool
	tokens      atomic.Int64 // tokens added to the dictionary; a run of one id in a column counts once
	text        atomic.Int64 // bytes of the chunks of edge lists whose ids have codes
	dict        *lines.Dict
	matrix      *matrix // nil: nodes have ids
}

// codes stores the codes of the ids of a batch. The batch must begin at the start of the text of p.
func (n *names) codes(p *part, code []uint32, text []byte, b *lines.IDBatch) error {
	p.inDict = true
	if err := n.dict.Codes(code, text, b, position(p.seq)); err != nil {
		return textio.Fault(n.t.files[p.file].Name, 0, "", "%w", err)
	}
	tokens := min(len(code), 2)
	for i := 2; i < len(code); i++ {
		if code[i] != code[i-2] {
			tokens++
		}
	}
	n.tokens.Add(int64(tokens))
	return nil
}

// moveToDict replaces codes that are small integers by codes of the dictionary.
func (m *memory) moveToDict(worker int, p *part, code []uint32, weight []float64,
	b *lines.IDBatch) error {
	if p.inDict {
		return nil
	}
	b.Reset()
	var digits []byte
	for _, c := range code {
		digits = strconv.AppendUint(digits[:0], uint64(c), 10)
		b.AddCopy(m.names.dict, 0, digits)
	}
	if err := m.names.codes(p, code, nil, b); err != nil {
		return err
	}
	if err := m.fits(0); err != nil {
		return err
	}
	if p.spilled == nil {
		return nil
	}
	p.code = code
	p.weight = weight
	return m.lines.moveToDisk(worker, p)
}

func (m *memory) moveListed() error {
	var b lines.IDBatch
	for _, p := range m.names.listed {
		m.lines.held -= p.bytes()
		if err := m.moveToDict(0, p, p.code, nil, &b); err != nil {
			return err
		}
	}
	m.names.listed = nil
	return nil
}

func (n *names) distinctListed() int {
	if n.useDict.Load() {
		return n.dict.Len()
	}
	var codes []uint32
	for _, p := range n.listed {
		codes = append(codes, p.code...)
	}
	slices.Sort(codes)
	return len(slices.Compact(codes))
}
