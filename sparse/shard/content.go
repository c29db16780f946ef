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

// ContentOption is the key, among the options of a manifest, of the digits of [Manifest.Content].
const ContentOption = "content"

// WeightTitleOption is the key, among the options of a manifest, of the title of the column of weights; absent if the input
// has no such column.
const WeightTitleOption = "weight_title"

// Content returns 16 hex digits that identify the content of the store: edges with kinds and times, ids, order of the
// rows, and attributes. Equal graphs have equal digits on any machine, however they were read and compressed. If the
// manifest does not have the digits, Content returns the random identity of the store.
func (m *Manifest) Content() string {
	return cmp.Or(m.Options[ContentOption], m.Identity)
}

// setContent computes the digits of [Manifest.Content] and stores them in the manifest. pairs is the sum of contentSum
// over all rows. attributes is the checksum of the file of attributes, or "".
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

// contentSum returns the contribution of row i to a sum modulo 2^64 that identifies the entries of the matrix. Columns
// must not decrease. In an undirected store, entries left of the diagonal do not contribute.
func contentSum(directed bool, i uint32, col []uint32, val []float64, code []uint32) uint64 {
	first := 0
	if !directed {
		first, _ = slices.BinarySearch(col, i)
	}
	return hashPairs(uint64(i)<<32, 0, col[first:], slicePart(val, first, len(col)), slicePart(code, first, len(col)))
}
