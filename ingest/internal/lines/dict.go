package lines

import (
	"bytes"
	"errors"
	"hash/maphash"
	"math"
	"math/bits"
	"sync"
)

// Dict numbers ids that are text. It is divided by hash into shards with a lock each, so that several
// goroutines can fill it. Codes depend on the order of the goroutines. Rows do not, because the dictionary
// stores the first position of every id in the input.
//
// The upper bits of a code are the shard, and the lower bits are the place in the shard.
type Dict struct {
	seed   maphash.Seed // random, so that no file can be made to collide
	shards [dictShards]dictShard
}

const (
	dictBits   = 4
	dictShards = 1 << dictBits
	placeBits  = 32 - dictBits
)

// dictShard is a hash table from ids to places. keys has the text of all ids.
type dictShard struct {
	mu      sync.Mutex
	slots   []uint64 // upper half: hash; lower half: place + 1; 0: free
	shift   uint     // 32 − log2 of the number of slots: the upper bits of the hash are the first slot to try
	keys    []byte
	entries []entry // one for each id, and a last entry for the end of keys
	touched byte    // sum of prefetched bytes, so that the compiler keeps the loads
}

type entry struct {
	start uint64 // an id ends at the start of the next entry
	first uint64 // position of the first line with the id
}

// leastPlaces is the number of bits of a place in a new shard.
const leastPlaces = 7

var ErrTooMany = errors.New("too many distinct nodes; nodes are numbered with 32 bits")

// maxPlaces is the largest number of ids of a shard. It is a variable for tests.
var maxPlaces = 1<<placeBits - 1

// NewDict returns an empty dictionary.
func NewDict() *Dict { return &Dict{seed: maphash.MakeSeed()} }

// token is an id in the text of a chunk or in IDBatch.unquoted. start and end are positions in the text
// followed by unquoted.
type token struct {
	hash       uint64
	start, end uint32
}

// IDBatch holds the ids of a chunk of text, in order, for [Dict.Codes].
type IDBatch struct {
	tokens   []token
	unquoted []byte   // ids that are not in the text of the chunk
	order    []uint32 // tokens of a stretch, by shard
}

func (b *IDBatch) Reset() {
	b.tokens = b.tokens[:0]
	b.unquoted = b.unquoted[:0]
}

func (b *IDBatch) Add(d *Dict, text []byte, start, end int) {
	b.tokens = append(b.tokens,
		token{maphash.Bytes(d.seed, text[start:end]), uint32(start), uint32(end)})
}

// AddCopy adds an id that is not in the text of the chunk. length is the length of that text.
func (b *IDBatch) AddCopy(d *Dict, length int, id []byte) {
	start := length + len(b.unquoted)
	b.unquoted = append(b.unquoted, id...)
	b.tokens = append(b.tokens,
		token{maphash.Bytes(d.seed, id), uint32(start), uint32(start + len(id))})
}

func (b *IDBatch) Len() int { return len(b.tokens) }

func (b *IDBatch) id(text []byte, t token) []byte {
	if int(t.start) >= len(text) {
		return b.unquoted[int(t.start)-len(text) : int(t.end)-len(text)]
	}
	return text[t.start:t.end]
}

// stretch is the number of tokens that are looked up together. Their text and their codes fit into the cache
// of a core.
const stretch = 1 << 12

// Codes stores the codes of a batch, and adds new ids to the dictionary. Token i has position first + i in
// the input.
func (d *Dict) Codes(code []uint32, text []byte, b *IDBatch, first uint64) error {
	for lo := 0; lo < len(b.tokens); lo += stretch {
		if err := d.codesOf(code, text, b, lo, min(lo+stretch, len(b.tokens)), first); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dict) codesOf(code []uint32, text []byte, b *IDBatch, lo, hi int,
	first uint64) error {
	var place [dictShards + 1]uint32
	for _, t := range b.tokens[lo:hi] {
		place[t.hash%dictShards+1]++
	}
	for s := range dictShards {
		place[s+1] += place[s]
	}
	if b.order == nil {
		b.order = make([]uint32, stretch)
	}
	next := place
	for i := lo; i < hi; i++ {
		s := b.tokens[i].hash % dictShards
		b.order[next[s]] = uint32(i)
		next[s]++
	}
	begin := b.tokens[lo].hash >> 32 // starts with different shards, so that workers do not wait for the same shard
	for k := range uint64(dictShards) {
		s := (begin + k) % dictShards
		mine := b.order[place[s]:place[s+1]]
		if len(mine) == 0 {
			continue
		}
		if err := d.shards[s].codes(uint32(s)<<placeBits, code, text, b, mine, first); err != nil {
			return err
		}
	}
	return nil
}

// group is the number of tokens that are loaded together, so that their cache misses overlap.
const group = 32

// codes stores the codes of tokens in this shard, and assigns codes to new ids.
func (s *dictShard) codes(high uint32, code []uint32, text []byte, b *IDBatch,
	tokens []uint32, first uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var slot, start, end [group]uint64
	touched := s.touched
	defer func() { s.touched = touched }()
	for len(tokens) > 0 {
		batch := tokens[:min(group, len(tokens))]
		tokens = tokens[len(batch):]
		if err := s.reserve(len(batch)); err != nil {
			return err
		}
		for j, i := range batch {
			slot[j] = s.slots[b.tokens[i].hash>>32>>s.shift]
		}
		for j := range batch {
			place := max(1, uint32(slot[j])) - 1
			e := s.entries[place : place+2]
			start[j] = e[0].start
			end[j] = e[1].start
		}
		for j := range batch {
			if start[j] < end[j] {
				touched += s.keys[start[j]] + s.keys[end[j]-1]
			}
		}
		for j, i := range batch {
			t := b.tokens[i]
			id := b.id(text, t)
			place := uint32(slot[j]) - 1
			if slot[j] == 0 || slot[j]>>32 != t.hash>>32 ||
				string(s.keys[start[j]:end[j]]) != string(id) {
				place = s.insert(t.hash, id)
			}
			e := &s.entries[place]
			e.first = min(e.first, first+uint64(i))
			code[i] = high | place
		}
	}
	return nil
}

func (s *dictShard) key(place uint32) []byte {
	e := s.entries[place : place+2]
	return s.keys[e[0].start:e[1].start]
}

// find returns the slot of an id, or the free slot for a new id.
func (s *dictShard) find(hash uint64, id []byte) *uint64 {
	mask := uint64(len(s.slots) - 1)
	for h := hash >> 32 >> s.shift; ; h = (h + 1) & mask {
		if slot := s.slots[h]; slot == 0 ||
			slot>>32 == hash>>32 && bytes.Equal(s.key(uint32(slot)-1), id) {
			return &s.slots[h]
		}
	}
}

// insert returns the place of an id. It adds a new id.
func (s *dictShard) insert(hash uint64, id []byte) uint32 {
	slot := s.find(hash, id)
	if *slot == 0 {
		*slot = hash>>32<<32 | uint64(s.len()+1)
		s.keys = append(s.keys, id...)
		s.entries[s.len()].first = math.MaxUint64
		s.entries = append(s.entries, entry{start: uint64(len(s.keys))})
	}
	return uint32(*slot) - 1
}

// reserve makes space for n more ids with at most half of the slots in use. If a shard cannot have so many
// ids, it returns ErrTooMany.
func (s *dictShard) reserve(n int) error {
	if len(s.entries) == 0 {
		s.entries = make([]entry, 1, 1<<leastPlaces)
	}
	if s.len()+n > maxPlaces {
		return ErrTooMany
	}
	size := max(1<<leastPlaces, len(s.slots))
	for (s.len()+n)*2 > size {
		size *= 2
	}
	if size == len(s.slots) {
		return nil
	}
	old := s.slots
	s.slots = make([]uint64, size)
	s.shift = 32 - uint(bits.TrailingZeros(uint(size)))
	mask := uint64(size - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		h := slot >> 32 >> s.shift
		for s.slots[h] != 0 {
			h = (h + 1) & mask
		}
		s.slots[h] = slot
	}
	return nil
}

// Code returns the code of an id, if the id is in the dictionary. It must not be called concurrently with
// Codes.
func (d *Dict) Code(id []byte) (code uint32, ok bool) {
	hash := maphash.Bytes(d.seed, id)
	shard := hash % dictShards
	s := &d.shards[shard]
	if len(s.slots) == 0 {
		return 0, false
	}
	slot := *s.find(hash, id)
	return uint32(shard)<<placeBits | uint32(slot) - 1, slot != 0
}

func (d *Dict) Len() int { return d.sum((*dictShard).len) }

func (s *dictShard) len() int {
	return max(1, len(s.entries)) - 1
}

// Bytes returns the memory of the dictionary. It is safe for concurrent use.
func (d *Dict) Bytes() int64 {
	return int64(d.sum(func(s *dictShard) int { return 8*cap(s.slots) + 16*cap(s.entries) + cap(s.keys) }))
}

// TextBytes returns the size of all ids. It is safe for concurrent use.
func (d *Dict) TextBytes() int64 {
	return int64(d.sum(func(s *dictShard) int { return len(s.keys) }))
}

func (d *Dict) sum(value func(s *dictShard) int) (n int) {
	for i := range d.shards {
		s := &d.shards[i]
		s.mu.Lock()
		n += value(s)
		s.mu.Unlock()
	}
	return n
}

// DictBytes returns an upper bound of the memory of a dictionary with the given number of ids and bytes of
// text.
func DictBytes(ids, text int64) int64 {
	const slot, entryBytes = 8, 16 // bytes of a slot and of an entry
	const rounded = 16 << 10       // allocations of a shard may exceed the request by these bytes
	places := ids/dictShards + 4*int64(math.Sqrt(float64(ids)/dictShards)) + group
	slots := int64(1) << max(leastPlaces, bits.Len64(uint64(2*places-1)))
	return dictShards*(slots*slot+rounded) + (ids*entryBytes+text)*5/4 // slices grow by a quarter
}

// NumberingBytes returns the memory for numbering ids without the dictionary: the sorted codes and first
// positions, the row of each code, and the text, ends and order of the store's ids.
func NumberingBytes(ids, text int64) int64 {
	return 48*ids + text
}

func (d *Dict) Key(code uint32) []byte {
	return d.shards[code>>placeBits].key(code & (1<<placeBits - 1))
}
