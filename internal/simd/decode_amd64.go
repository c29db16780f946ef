//go:build amd64 && !noasm

package simd

import "unsafe"

// decoding is what a decoder for AVX-512 keeps between its turns; other
// decoders do all of the work when it begins.
type decoding struct {
	wide wideDecoding
	near Near
}

// wideDecoding is read and written by the assembly: see the generator for its
// words.
type wideDecoding struct {
	masks                                   [16]uint32
	pairs, triples                          [64]uint8
	base                                    [16]uint32
	position, previous, offset, mask, value [16]uint32
	quads, starts, skips                    [32]uint32
	spread                                  [32]uint64
	dst                                     *uint32
	sel, data                               *byte
	done, start, at, slot, left, groups     int
	modulus                                 uint32
}

const (
	groupIDs   = 16
	spareBytes = 68
)

func (d *decoding) begin(dst []uint32, n int, sel, data []byte, widths [4]uint8, bits uint8, near Near) {
	d.forget()
	if !hasDecodeAVX2 || n < 1 || max(widths[0], widths[1], widths[2], widths[3]) > 31 {
		plainDecodeFourWidths(dst, n, sel, data, widths, bits)
		return
	}
	_, _ = dst[n+groupIDs-1], sel[(n+3)/4+spareBytes-1]
	if !hasDecodeAVX512 {
		decodeEights(dst, n, sel, data, widths, bits, near)
		return
	}
	d.near = near
	w := &d.wide
	for i := range w.masks {
		w.masks[i] = 1<<widths[i%4] - 1
		w.base[i] = uint32(max(0, i%4-1)) * uint32(widths[0])
	}
	for i := range w.pairs {
		w.pairs[i] = widths[i%4] + widths[i/4%4]
		w.triples[i] = w.pairs[i] + widths[i/16]
	}
	w.dst, w.sel, w.data = &dst[0], &sel[0], &data[0]
	w.groups = (n + groupIDs - 1) / groupIDs
	w.position, w.done, w.slot, w.left, w.modulus = [16]uint32{}, 0, 0, w.groups, 1<<bits-1
}

func (d *decoding) head() { d.advance(DecodingHead/groupIDs - d.wide.done) }

func (d *decoding) finish() {
	d.advance(d.wide.groups)
	d.forget()
}

func (d *decoding) forget() { d.wide.groups, d.near = 0, Near{} }

// advance decodes so many groups, or those that are left.
func (d *decoding) advance(groups int) {
	if groups = min(groups, d.wide.groups); groups > 0 {
		rows, stride := d.near.rows(d.wide.data)
		decodeGroupsAVX512(d.wide.address(), groups, rows, stride)
	}
}

// rows returns what the decoders prefetch; if it is nothing, what is at hand.
func (n Near) rows(atHand *byte) (rows *byte, stride int) {
	if len(n.Data) == 0 {
		return atHand, 0
	}
	return &n.Data[0], n.Stride
}

func (w *wideDecoding) address() *uint64 { return (*uint64)(unsafe.Pointer(w)) }

// decodeEights decodes eight ids at a time.
func decodeEights(dst []uint32, n int, sel, data []byte, widths [4]uint8, bits uint8, near Near) {
	const eachByte, countUp = 0x0101010101010101, 0x0807060504030201
	var t struct { // see the generator for its words
		masks [8]uint32
		terms [4]uint64
	}
	for i := range t.masks {
		t.masks[i] = 1<<widths[i%4] - 1
	}
	w0, w1, w2, w3 := uint64(widths[0]), uint64(widths[1]), uint64(widths[2]), uint64(widths[3])
	t.terms = [4]uint64{(w1 - w0) * eachByte, (w2 - w0) * eachByte, (w3 - w2 - w1 + w0) * eachByte, w0 * countUp}
	rows, stride := near.rows(&data[0])
	decodeFourWidthsAVX2(&dst[0], &sel[0], &data[0], (n+7)/8, uint32(1)<<bits-1, &t.masks[0], rows, stride)
}
