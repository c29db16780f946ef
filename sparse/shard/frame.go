package shard

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// Codecs of a store. fourWidths is the code of the ids. Earlier releases could also compress the frames by zstd.
const (
	fourWidths = "four-widths"
	zstdCodec  = "zstd"
)

const codecPlain = 0

const maxRows = math.MaxUint32

// header is the beginning of a frame: these fields in this order, little endian and without gaps.
type header struct {
	Magic     [4]byte
	Shard     uint32 // the number of the shard file
	Identity  uint64
	Frame     uint64 // number of the frame in its direction
	Lo        uint64 // the first row of its range, see sparse.Range
	Rows      uint32
	Entries   uint32
	Piece     uint32
	Pieces    uint32
	Stored    uint32 // bytes of payload that follow
	Payload   uint32 // equal to Stored
	Direction uint8  // 0 out, 1 in
	Codec     uint8
	Reserved  [2]byte // zero
	Sum       uint32  // CRC-32C of the header before it and of the stored payload
}

// Offsets of fields of the header in bytes.
const (
	atSum       = 60
	headerBytes = 64
)

var frameMagic = [4]byte([]byte("HWfr"))

// Offsets in the payload in bytes.
const (
	atBits      = 0 // uint8
	atWidths    = 1 // 4 × uint8
	atValues    = 5 // uint8, the form of the values
	payloadHead = 6
)

// escape announces a row length of four bytes.
const escape = 255

// slack is the number of bytes that must be readable after a frame, because the decoder loads whole windows. spareIDs
// is the number of ids behind the decoded ids that prefetches may read.
const (
	slack    = 68
	spareIDs = 256
)

func maxPayload(rows, entries int) int {
	return payloadHead + 5*rows + selectorBytes(entries) + 4*entries + 8*entries +
		codeBytes*entries
}

// header returns the header of frame number of a direction, without the checksum.
func (m *Manifest) header(direction int, number int64, f frame,
	r sparse.Range) header {
	return header{
		Magic: frameMagic, Shard: uint32(f.shard), Identity: m.identity(),
		Frame: uint64(number),
		Lo:    uint64(r.Lo), Rows: uint32(r.Hi - r.Lo), Entries: uint32(r.Entries),
		Piece: uint32(r.Piece), Pieces: uint32(r.Pieces),
		Stored: uint32(f.bytes - headerBytes), Payload: uint32(f.bytes - headerBytes),
		Direction: uint8(direction), Codec: codecPlain,
	}
}

func headerOf(frame []byte) (h header) {
	_, _ = binary.Decode(frame, binary.LittleEndian, &h) // frame is long enough
	return h
}

func (h *header) begins() bool {
	return h.Magic == frameMagic && h.Reserved == [2]byte{}
}

// frameSum returns the checksum of all bytes of a frame except the bytes of the checksum.
func frameSum(frame []byte) uint32 {
	return simd.Checksum(simd.Checksum(0, frame[:atSum]), frame[headerBytes:])
}

// appendPayload appends the payload of a frame to dst. lengths is nil for a piece of a long row. A nil val means ones.
// deltas is scratch memory as long as ids.
func appendPayload(dst []byte, lengths, ids []uint32, val []float64,
	deltas []uint32) []byte {
	start := len(dst)
	// The coded ids begin with b and the widths, which belong to the head.
	form := valueForm(val)
	dst = append(dst, make([]byte, payloadHead)...)
	dst = appendLengths(dst, lengths)
	coded := len(dst)
	dst = appendIDs(dst, ids, deltas)
	copy(dst[start:], dst[coded:coded+atValues])
	dst = append(dst[:coded], dst[coded+atValues:]...)
	dst[start+atValues] = byte(form)
	return appendValues(dst, form, val)
}

// appendLengths appends row lengths: a byte each, or the escape and four bytes.
func appendLengths(dst []byte, lengths []uint32) []byte {
	for _, n := range lengths {
		if n < escape {
			dst = append(dst, byte(n))
			continue
		}
		dst = append(dst, escape)
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	return dst
}

// lengthsTo decodes len(ptr)−1 row lengths from the start of b and stores their running sums in ptr[1:]. It returns the
// number of bytes read, or −1 if b is too short.
func lengthsTo(ptr []int64, b []byte) int {
	ptr[0] = 0
	sum := int64(0)
	offset := 0
	for ends := ptr[1:]; len(ends) > 0; {
		// Most rows are short.
		if len(ends) >= 8 && len(b)-offset >= 8 {
			if word := binary.LittleEndian.Uint64(b[offset:]); !hasEscape(word) {
				group := (*[8]int64)(ends)
				for i := range group {
					sum += int64(word & 0xff)
					word >>= 8
					group[i] = sum
				}
				ends = ends[8:]
				offset += 8
				continue
			}
		}
		if offset >= len(b) {
			return -1
		}
		n := int64(b[offset])
		offset++
		if n == escape {
			if offset+4 > len(b) {
				return -1
			}
			n = int64(binary.LittleEndian.Uint32(b[offset:]))
			offset += 4
		}
		sum += n
		ends[0] = sum
		ends = ends[1:]
	}
	return offset
}

// hasEscape reports whether one of the eight bytes of word is [escape], the only byte whose bits are all set.
func hasEscape(word uint64) bool {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	return word&((word&low)+0x0101010101010101)&high != 0
}

// buffers holds the memory of one goroutine of a sweep.
type buffers struct {
	chunk []byte // bytes of a chunk that is not in memory

	ptr []int64
	ids []uint32
	val []float64
}

func newBuffers(valued bool) *buffers {
	b := &buffers{
		ptr: make([]int64, sparse.MaxRange+1),
		ids: make([]uint32, sparse.MaxRange+spareIDs),
	}
	if valued {
		b.val = make([]float64, sparse.MaxRange)
	}
	return b
}

func buffersBytes(valued bool) int64 {
	n := int64(8*(sparse.MaxRange+1) + 4*(sparse.MaxRange+spareIDs))
	if valued {
		n += 8 * sparse.MaxRange
	}
	return n
}

// decode decodes the payload of the range r. slack bytes after payload must be readable. If check is set, decode
// validates the payload; pass false for bytes that were validated before. wrong describes the first error.
func (b *buffers) decode(payload []byte, r sparse.Range, m *Manifest,
	check bool) (p sparse.Panel, wrong string) {
	if len(payload) < payloadHead {
		return p, fmt.Sprintf("payload of %d bytes", len(payload))
	}
	idBits := payload[atBits]
	form := int(payload[atValues])
	widths := [4]uint8(payload[atWidths:atValues])
	if idBits > rawBits || form >= valueForms || form != valuesOnes && !m.Weighted {
		return p, fmt.Sprintf("ids of %d bits, values of form %d", idBits, form)
	}
	p = sparse.Panel{Range: r, Ptr: b.ptr[:r.Hi-r.Lo+1], Col: b.ids[:r.Entries]}
	coded := payload[payloadHead:]
	if r.Pieces > 1 {
		p.Ptr[0] = 0
		p.Ptr[1] = int64(r.Entries)
	} else {
		n := lengthsTo(p.Ptr, coded)
		if n < 0 || p.Ptr[len(p.Ptr)-1] != int64(r.Entries) {
			return p, fmt.Sprintf("row lengths do not add up to %d entries", r.Entries)
		}
		coded = coded[n:]
	}
	end := len(coded) - m.codeSize()*r.Entries
	idsLen := end - valueBytes[form]*r.Entries
	if wrong := b.decodeIDs(coded, idsLen, r.Entries, idBits, widths, check); wrong != "" {
		return p, wrong
	}
	// Otherwise the prefetch would use ids of an earlier frame.
	clear(b.ids[r.Entries:][:spareIDs])
	if form != valuesOnes {
		p.Val = b.val[:r.Entries]
		valuesTo(p.Val, form, coded[idsLen:end])
	}
	if m.HasCodes() {
		wrong = m.readCodes(&p, coded[end:], check)
	}
	return p, wrong
}

func (b *buffers) decodeIDs(coded []byte, size, n int, idBits uint8,
	widths [4]uint8, check bool) (wrong string) {
	if idBits == rawBits {
		if size != 4*n || widths != [4]uint8{} {
			return fmt.Sprintf("%d bytes for %d raw ids", size, n)
		}
		for e := range n {
			b.ids[e] = binary.LittleEndian.Uint32(coded[4*e:])
		}
		return ""
	}
	for s, w := range widths {
		if w > idBits || s > 0 && w < widths[s-1] {
			return fmt.Sprintf("widths %v for ids of %d bits", widths, idBits)
		}
	}
	sel := selectorBytes(n)
	if size < sel {
		return fmt.Sprintf("%d bytes for the selectors of %d ids", max(size, 0), n)
	}
	if check {
		total, padded := codedBits(coded[:sel], n, widths)
		if !padded {
			return "selectors set after the last id"
		}
		if size != sel+(total+7)/8 {
			return fmt.Sprintf("%d bytes for ids of %d bits", size-sel, total)
		}
		if total%8 != 0 && coded[size-1]>>(total%8) != 0 {
			return "bits set after the last id"
		}
	}
	coded = coded[:size+slack]
	simd.Decode(b.ids, n, coded[:sel+slack], coded[sel:], widths, idBits)
	return ""
}

// checkPanel describes the first error in a panel of a matrix with cols columns, or returns "".
func checkPanel(p sparse.Panel, cols int64) (wrong string) {
	var code []uint32
	for i := range p.Hi - p.Lo {
		col, val := p.Row(i)
		code = p.AppendCodes(code[:0], i)
		if wrong := checkRow(p.Lo+i, col, val, code, cols); wrong != "" {
			return wrong
		}
	}
	return ""
}

func checkRow(row int, col []uint32, val []float64, code []uint32,
	cols int64) (wrong string) {
	last := int64(-1)
	for e, c := range col {
		if int64(c) <= last &&
			!(code != nil && int64(c) == last && code[e] > code[e-1]) {
			return fmt.Sprintf("row %d: column %d after %d", row, c, last)
		}
		last = int64(c)
	}
	if last >= cols {
		return fmt.Sprintf("row %d: column %d of %d", row, last, cols)
	}
	for e, v := range val {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprintf("row %d, column %d: value %v", row, col[e], v)
		}
	}
	return ""
}
