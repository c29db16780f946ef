package shard

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
)

// ContentOption is the key of the option of a manifest that identifies the content of the store.
const ContentOption = "content"

// Content returns 16 hex digits that identify the content of the store: edges with kinds and times, ids, order of the
// rows, and attributes. Equal graphs have equal digits on any machine, however they were read and compressed. For a
// store without the digits, Content returns its random identity.
func (m *Manifest) Content() string {
	return cmp.Or(m.Options[ContentOption], m.Identity)
}

// setContent records the digits of [Manifest.Content]. pairs is the sum of contentSum over all rows. attributes is the
// checksum of the file of attributes, or "".
func (m *Manifest) setContent(pairs uint64, nodes *Nodes, attributes string) {
	sum := uint32(0)
	b := bufio.NewWriterSize(writerFunc(func(p []byte) (int, error) {
		sum = simd.Checksum(sum, p)
		return len(p), nil
	}), 1<<16)
	if nodes.ids.kind != nodesImplicit {
		nodes.ids.write(b)
	}
	writeRows(b, nodes.Order)
	_ = b.Flush() // cannot fail
	digest := sha256.Sum256(fmt.Append(nil, pairs, m.Rows, m.Entries, m.Directed, m.Kinds, m.Times, nodes.ids.kind,
		nodes.name, sum, attributes))
	m.Options = maps.Clone(m.Options)
	if m.Options == nil {
		m.Options = map[string]string{}
	}
	m.Options[ContentOption] = fmt.Sprintf("%x", digest[:8])
}

// contentSum returns the contribution of row i to a sum modulo 2^64 that identifies the entries. In an undirected store
// it omits the entries left of the diagonal. Columns must not decrease.
func contentSum(directed bool, i uint32, col []uint32, val []float64, code []uint32) uint64 {
	first := 0
	if !directed {
		first, _ = slices.BinarySearch(col, i)
	}
	return hashPairs(uint64(i)<<32, 0, col[first:], slicePart(val, first, len(col)), slicePart(code, first, len(col)))
}
