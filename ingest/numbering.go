package ingest

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

const noRow = sort.NoRow

// maxNodes is the largest number of rows of a store. It is a variable for tests.
var maxNodes = noRow

// numbering holds the nodes in the order of their ranks, and their rows.
type numbering struct {
	nodes *shard.Nodes // nodes in the default order
	order []uint32     // the row of each node in the order of the settings; nil: the rows of nodes
}

// numberer is the second stage of a run. It replaces codes by ranks, the positions of nodes in the default
// order of the ids, because sorting needs small numbers in the order of the rows.
type numberer struct{ stage }

func (n *numberer) number() (*shard.Nodes, error) {
	if limit := n.m.bitmapLimit(); limit > 0 {
		return n.numberDense(int(limit))
	}
	n.names.useDict.Store(true)
	if err := n.m.moveListed(); err != nil {
		return nil, err
	}
	if err := n.m.makeRoom(n.movedNeeds()); err != nil {
		return nil, err
	}
	batches := make([]lines.IDBatch, n.t.workers)
	err := n.lines.eachPart(func(worker int, p *part, code []uint32, weight []float64) error {
		return n.m.moveToDict(worker, p, code, weight, &batches[worker])
	})
	if err != nil {
		return nil, err
	}
	return n.numberDict()
}

func (n *numberer) tooMany() error {
	return &nodefile.ParseError{File: n.t.files[0].Name,
		Msg: fmt.Sprintf("more than %d distinct nodes; nodes are numbered with 32 bits", maxNodes), Err: lines.ErrTooMany}
}

// movedNeeds returns an upper bound of the memory of the dictionary and of the numbering after all ids have
// been moved to the dictionary.
func (n *numberer) movedNeeds() int64 {
	count := int64(n.names.dict.Len())
	text := n.names.dict.TextBytes()
	numbers := int64(0)
	for _, p := range n.lines.parts {
		if !p.inDict {
			numbers += 2 * int64(p.edges)
		}
	}
	numbers = min(numbers, int64(n.lines.top)+1)
	count += numbers
	text += maxDigits * numbers
	return lines.DictBytes(count, text) + lines.NumberingBytes(count, text)
}

// smallDict is the size in bytes up to which a dictionary is left to the next garbage collection. A forced
// collection takes longer than an ingest of a few lines.
const smallDict = 1 << 20

// numberDict numbers the ids of the dictionary in the default order, see the package documentation.
func (n *numberer) numberDict() (*shard.Nodes, error) {
	dict := n.names.dict
	if dict.Len() > maxNodes {
		return nil, n.tooMany()
	}
	if err := n.m.makeRoom(n.m.extent().namingBytes()); err != nil {
		return nil, err
	}
	if err := n.m.fits(0); err != nil {
		return nil, err
	}
	if dict.Bytes() > smallDict {
		system.Collect() // frees outgrown parts of the dictionary
	}
	codes, first, integers := dict.InOrder(position(n.names.seq))
	n.t.report.IDs = "text"
	listed, _ := slices.BinarySearch(first, position(n.names.listedParts))
	missing, err := n.missingEnds(codes[:listed])
	if err != nil {
		return nil, err
	}
	if missing != nil {
		codes, listed, integers = n.withoutMissing(codes, listed, missing)
	}
	for _, code := range codes {
		if !integers && lines.IsRounded(dict.Key(code)) {
			n.t.warn(faultRounded(n.t.files[len(n.t.files)-1].Name, 0, "lines"))
			break
		}
	}
	has := func(id string) bool {
		_, has := dict.Code([]byte(id))
		return has
	}
	if warning := table.AlikeWarning("", "node", dict.OddTexts(codes), has); warning != nil && !integers {
		n.t.warn(warning)
	}
	if integers {
		n.t.report.IDs = "numeric"
		dict.SortIntegers(codes[listed:])
	} else if short, id, ok := dict.FindPadded(codes); ok {
		n.t.warn(textio.Fault("", 0,
			"write each integer in one way if they are meant as one",
			"ids %q and %q both occur and are different nodes", short, id))
	}
	if several := len(codes) - listed; several > 0 && n.c.Nodes != "" &&
		n.c.UnknownIDs == ErrorUnknown {
		rows := dict.Numbers(codes[:listed])
		return nil, n.faultUnlisted(several, func(code uint32) bool { return rows.Of(code) != noRow || slices.Contains(missing, code) }, func(dst []byte, code uint32) []byte {
			return append(dst, dict.Key(code)...)
		})
	}
	if n.c.Nodes != "" && n.c.UnknownIDs == SkipUnknown {
		codes = codes[:listed]
	}
	if err := n.lines.mapCodes(dict.Numbers(codes).Replace); err != nil {
		return nil, err
	}
	return n.dictionary(codes)
}

const maxDigits = 10

func (n *numberer) dictionary(codes []uint32) (*shard.Nodes, error) {
	dict := n.names.dict
	values := make([]uint64, len(codes))
	increasing := n.t.report.IDs == "numeric"
	for i, code := range codes {
		if !increasing {
			break
		}
		v, err := strconv.ParseUint(string(dict.Key(code)), 10, 64)
		values[i] = v
		increasing = err == nil && (i == 0 || v > values[i-1])
	}
	if increasing {
		return shard.NumericNodes(values), nil
	}
	return shard.StringNodes(func(yield func([]byte) bool) {
		for _, code := range codes {
			if !yield(dict.Key(code)) {
				return
			}
		}
	})
}

func (n *numberer) numberAll() (err error) {
	if n.lines.spilling {
		system.Release() // frees lines that are on disk now
	}
	large := n.names.useDict.Load() && n.names.dict.Bytes() > smallDict
	if n.names.matrix != nil {
		n.numbering.nodes, err = n.matrixRows()
	} else {
		n.numbering.nodes, err = n.number()
	}
	if err != nil {
		return err
	}
	n.t.warnUnlisted(n.numbering.nodes.Len() - n.names.listedIDs)
	n.names.dict = nil
	if large {
		system.Release() // frees the dictionary
	}
	return nil
}

func (n *numberer) matrixRows() (*shard.Nodes, error) {
	m := n.names.matrix
	// A short file may declare any number of rows.
	e := n.m.extent()
	e.nodes = int64(m.rows)
	e.rowIDs = 4 * int64(m.rows)
	e.order = DefaultOrder
	if need := e.held + e.numberedBytes(); n.c.Memory > 0 && need > n.c.Memory {
		return nil, &LimitError{Need: need, Limit: n.c.Memory}
	}
	if n.c.Nodes != "" {
		if err := n.m.moveListed(); err != nil {
			return nil, err
		}
		if listed := n.names.dict.Len(); uint64(listed) != n.names.matrix.rows {
			return nil, textio.Fault(n.c.Nodes, 0,
				"list the id of each row once, in order", "%s, the graph has %d",
				words.Counted(listed, "id"), n.names.matrix.rows)
		}
		codes, _, integers := n.names.dict.InOrder(position(n.names.seq))
		n.t.report.IDs = "text"
		if integers {
			n.t.report.IDs = "numeric"
		}
		return n.dictionary(codes)
	}
	if m.first == 0 {
		return shard.NewNumericNodes(int(m.rows)), nil
	}
	ids := make([]uint32, m.rows)
	for i := range ids {
		ids[i] = uint32(i) + uint32(m.first)
	}
	return shard.NumericNodes(ids), nil
}

func (n *numbering) orderNodes(setting Order) *shard.Nodes {
	if n.order == nil {
		return n.nodes
	}
	nodes := system.Make[uint32](n.nodes.Len()) // the node of each row
	for node, row := range n.order {
		nodes[row] = uint32(node)
	}
	return n.nodes.Reorder(orderNames[setting], nodes, n.order)
}
