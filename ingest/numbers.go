package ingest

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// idSet is the set of the ids seen so far, as a bitmap. It is filled while the
// lines are read, as long as it costs no more than they do.
type idSet struct {
	mu     sync.RWMutex
	words  []uint64 // of atomic access under the read lock
	tokens int64    // ids added, of atomic access
	sparse bool     // the bitmap would cost too much; it was given up
}

// denseBits are always worth a bitmap, and so are idBits for each id.
const (
	denseBits = 1 << 23
	idBits    = 32
)

// add adds ids, the largest of which is top.
func (s *idSet) add(code []uint32, top uint32) {
	tokens := atomic.AddInt64(&s.tokens, int64(len(code)))
	s.mu.RLock()
	for !s.sparse && len(s.words) <= int(top/64) {
		s.mu.RUnlock()
		s.grow(int(top)+1, tokens)
		s.mu.RLock()
	}
	if !s.sparse {
		mark(s.words, code)
	}
	s.mu.RUnlock()
}

// grow makes room for ids below limit, or gives the bitmap up.
func (s *idSet) grow(limit int, tokens int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sparse = s.sparse || int64(limit) > max(denseBits, idBits*tokens); s.sparse {
		s.words = nil
		return
	}
	if words := (limit + 63) / 64; words > len(s.words) {
		s.words = append(make([]uint64, 0, words+words/4), s.words...)[:words+words/4]
	}
}

// mark sets the bits of ids, beside others that do the same.
func mark(words []uint64, code []uint32) {
	for _, c := range code {
		word, bit := &words[c/64], uint64(1)<<(c%64)
		if atomic.LoadUint64(word)&bit == 0 {
			atomic.OrUint64(word, bit)
		}
	}
}

// ranks numbers the ids of a bitmap in increasing order.
type ranks struct {
	seen  []uint64
	below []uint32 // how many ids come before each word
	n     int
}

func newRanks(seen []uint64) *ranks {
	k := &ranks{seen: seen, below: make([]uint32, len(seen))}
	for i, word := range seen {
		k.below[i] = uint32(k.n)
		k.n += bits.OnesCount64(word)
	}
	return k
}

// limit returns a number above every id.
func (k *ranks) limit() int { return 64 * len(k.seen) }

// has reports whether an id is in the set.
func (k *ranks) has(id uint32) bool {
	return int(id/64) < len(k.seen) && k.seen[id/64]>>(id%64)&1 != 0
}

// of returns how many ids come before one, which need not be in the set.
func (k *ranks) of(id uint32) uint32 {
	return k.below[id/64] + uint32(bits.OnesCount64(k.seen[id/64]&(1<<(id%64)-1)))
}

// replace replaces ids of the set by their ranks.
func (k *ranks) replace(code []uint32) {
	seen, below := k.seen, k.below[:len(k.seen)]
	for i, c := range code {
		code[i] = below[c/64] + uint32(bits.OnesCount64(seen[c/64]&(1<<(c%64)-1)))
	}
}

// number replaces the ids of sorted rows by their ranks.
func (k *ranks) number(b *sort.Rows) {
	k.replace(b.Col)
	n := 0
	for i, end := range b.Ptr[1:] {
		if k.has(uint32(b.Lo + i)) {
			n++
			b.Ptr[n] = end
		}
	}
	b.Ptr = b.Ptr[:n+1]
	b.Lo = int(k.of(uint32(b.Lo)))
}

// each calls do with every id in increasing order.
func (k *ranks) each(do func(id uint32)) {
	for i, word := range k.seen {
		for ; word != 0; word &= word - 1 {
			do(uint32(i*64 + bits.TrailingZeros64(word)))
		}
	}
}

// numberDense gives rows to ids that are numbers below limit: those of the list
// of nodes in its order, then the others by value.
func (r *run) numberDense(limit int) (*shard.Nodes, error) {
	words := r.ids.words
	if r.ids.sparse {
		words = make([]uint64, (limit+63)/64)
		for _, p := range r.listed {
			mark(words, p.code)
		}
		err := r.eachPart(func(_ int, _ *part, code []uint32, _ []float64) error {
			mark(words, code)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	ids := newRanks(words[:(limit+63)/64])
	if ids.n > maxNodes {
		return nil, r.tooMany()
	}
	if r.c.Nodes != "" {
		return r.numberListed(ids, limit)
	}
	if ids.n == limit {
		return shard.NewNumericNodes(ids.n), nil
	}
	values := make([]uint32, 0, ids.n)
	ids.each(func(id uint32) { values = append(values, id) })
	nodes := shard.NumericNodes(values)
	switch r.c.Order.possible(ids.n, r.lines) {
	case DefaultOrder:
		r.late = ids
		return nodes, r.mapLate()
	case DegreeOrder:
		if limit <= lateIDs(ids.n, r.c.Memory) {
			r.late = ids // until they are mapped to the rows of the order
			return nodes, nil
		}
	}
	return nodes, r.mapCodes(ids.replace)
}

// lateIDs returns how many ids are counted in the stead of so many nodes at the most:
// more cost more time than they save. The counts of nodes become the rows that the
// dictionary holds, those of ids come on top of them, so that little memory takes
// nodes.
func lateIDs(nodes int, memory int64) int {
	const (
		most  = 4  // for each node
		share = 64 // bytes of the limit
	)
	if memory > 0 {
		return min(most*nodes, int(memory/share))
	}
	return most * nodes
}

// mapLate maps the ids that are codes still to rows, unless they are as good as rows
// for sorting, which has less to look up then.
func (r *run) mapLate() error {
	if r.late == nil || bits.Len(uint(r.late.limit()-1)) == bits.Len(uint(r.late.n-1)) {
		return nil
	}
	ids := r.late
	r.late = nil
	return r.mapCodes(ids.replace)
}

// numberListed is numberDense where there is a list of nodes.
func (r *run) numberListed(ids *ranks, limit int) (*shard.Nodes, error) {
	rows := make([]uint32, limit)
	for i := range rows {
		rows[i] = noRow
	}
	var values []uint32
	for _, p := range r.listed {
		for _, id := range p.code {
			if rows[id] == noRow {
				rows[id] = uint32(len(values))
				values = append(values, id)
			}
		}
	}
	unlisted := ids.n - len(values)
	switch {
	case unlisted == 0 || r.c.UnknownIDs == SkipUnknown:
	case r.c.UnknownIDs == ErrorUnknown:
		return nil, r.unlistedNumber(rows, unlisted)
	default:
		ids.each(func(id uint32) {
			if rows[id] == noRow {
				rows[id] = uint32(len(values))
				values = append(values, id)
			}
		})
	}
	err := r.mapCodes(func(code []uint32) {
		for i, c := range code {
			code[i] = rows[c]
		}
	})
	if err != nil {
		return nil, err
	}
	return numberNodes(values)
}

// numberNodes returns the dictionary of numbers in the order of rows.
func numberNodes(ids []uint32) (*shard.Nodes, error) {
	if slices.IsSorted(ids) { // each is there once
		return shard.NumericNodes(ids), nil
	}
	var b shard.NodesBuilder
	var digits []byte
	for _, id := range ids {
		digits = strconv.AppendUint(digits[:0], uint64(id), 10)
		b.Append(string(digits))
	}
	return b.Nodes()
}

// unlistedNumber returns the error for the first id, of several, that has no
// row.
func (r *run) unlistedNumber(rows []uint32, several int) error {
	for _, p := range r.parts {
		code, _, err := r.load(0, p)
		if err != nil {
			return err
		}
		for i, id := range code {
			if rows[id] == noRow {
				return r.unlistedError(p, i, strconv.AppendUint(nil, uint64(id), 10), several)
			}
		}
	}
	return nil
}

// unlistedError is the error for an id, the token of a part, that is not in the
// list of nodes.
func (r *run) unlistedError(p *part, token int, id []byte, several int) error {
	verb := "ids are"
	if several == 1 {
		verb = "id is"
	}
	return &ParseError{
		File: r.files[p.file].Name, Line: p.line(token / 2),
		Msg: fmt.Sprintf("%s is not in %s (%d %s not)", quote(id), r.c.Nodes, several, verb),
		Fix: "pass --unknown-ids=skip to leave such edges out",
	}
}
