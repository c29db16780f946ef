package ingest

import (
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// numberDense numbers ids that are integers below limit, in the default order.
func (n *numberer) numberDense(limit int) (*shard.Nodes, error) {
	words := make([]uint64, (limit+63)/64)
	for _, p := range n.names.listed {
		lines.MarkIDs(words, p.code)
	}
	err := n.lines.eachPart(func(_ int, _ *part, code []uint32, _ []float64) error {
		lines.MarkIDs(words, code)
		return nil
	})
	if err != nil {
		return nil, err
	}
	ranks := lines.NewIDRanks(words)
	if ranks.N > maxNodes {
		return nil, n.tooMany()
	}
	if n.c.Nodes != "" {
		return n.numberListed(ranks, limit)
	}
	if ranks.N == limit {
		return shard.NewNumericNodes(ranks.N), nil
	}
	values := make([]uint32, 0, ranks.N)
	ranks.Each(func(id uint32) { values = append(values, id) })
	nodes := shard.NumericNodes(values)
	return nodes, n.lines.mapCodes(ranks.Replace)
}

func (n *numberer) numberListed(ranks *lines.IDRanks, limit int) (*shard.Nodes, error) {
	rows := slices.Repeat([]uint32{noRow}, limit)
	var values []uint32
	add := func(id uint32) {
		if rows[id] == noRow {
			rows[id] = uint32(len(values))
			values = append(values, id)
		}
	}
	for _, p := range n.names.listed {
		for _, id := range p.code {
			add(id)
		}
	}
	unlisted := ranks.N - len(values)
	switch {
	case unlisted == 0 || n.c.UnknownIDs == SkipUnknown:
	case n.c.UnknownIDs == ErrorUnknown:
		return nil, n.faultUnlisted(unlisted, func(id uint32) bool { return rows[id] != noRow }, func(dst []byte, id uint32) []byte {
			return strconv.AppendUint(dst, uint64(id), 10)
		})
	default:
		ranks.Each(add)
	}
	err := n.lines.mapCodes(func(code []uint32) {
		for i, c := range code {
			code[i] = rows[c]
		}
	})
	if err != nil {
		return nil, err
	}
	if slices.IsSorted(values) { // the ids are distinct
		return shard.NumericNodes(values), nil
	}
	return shard.StringNodes(func(yield func([]byte) bool) {
		var digits []byte
		for _, id := range values {
			digits = strconv.AppendUint(digits[:0], uint64(id), 10)
			if !yield(digits) {
				return
			}
		}
	})
}

// faultUnlisted returns the error about count ids that are not in the list of nodes. has reports whether the
// id with a code is listed, and id appends the text of this id to dst.
func (n *numberer) faultUnlisted(count int, has func(code uint32) bool,
	id func(dst []byte, code uint32) []byte) error {
	verb := "ids are"
	if count == 1 {
		verb = "id is"
	}
	for _, p := range n.lines.parts {
		code, _, err := n.lines.load(0, p)
		if err != nil {
			return err
		}
		index := slices.IndexFunc(code, func(c uint32) bool { return !has(c) })
		if index < 0 {
			continue
		}
		return textio.Fault(n.t.files[p.file].Name, p.line(index/2), "pass {unknown-ids=skip} to leave such edges out",
			"%s is not in %s (%d %s not)", words.Quoted(id(nil, code[index])),
			n.c.Nodes, count, verb)
	}
	return nil
}
