package simd

import (
	"bytes"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fenced returns n zero elements at the end of a mapping, so that a read behind the elements crashes the test.
func fenced[E any](t *testing.T, n int) []E {
	t.Helper()
	page := unix.Getpagesize()
	var e E
	size := n * int(unsafe.Sizeof(e))
	readable := (size + page - 1) / page * page
	memory, err := unix.Mmap(-1, 0, readable+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mprotect(memory[readable:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*E)(unsafe.Pointer(&memory[readable-size])), n)
}

func TestLoopsStayInTheirMemory(t *testing.T) {
	t.Run("float32", testLoopsStayInTheirMemory[float32])
	t.Run("float64", testLoopsStayInTheirMemory[float64])
}

func testLoopsStayInTheirMemory[T Float](t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 12, 16, 40, 83, 150} {
			for _, entries := range []int{0, 1, 30, 400, 3000} {
				const rows = 20
				dst, x, scale := fenced[T](t, rows*k), fenced[T](t, 3*k), fenced[T](t, rows)
				ptr, col, val := fenced[int64](t, rows+1), fenced[uint32](t, entries), fenced[T](t, entries)
				for e := range col {
					col[e] = uint32(e % 3)
				}
				for r := range ptr {
					ptr[r] = int64(r * entries / rows)
				}
				Gather(Rows[T]{dst, k}, k, scale, Rows[T]{x, k}, ptr, col, nil)
				HashPairs(0, 32, col)
				Distances(fenced[uint32](t, entries), col, 0, 20, new([32]int))
				even := col[entries%2:]
				Cells(fenced[uint32](t, len(even)), even, 9, 3)
				Entries(fenced[uint32](t, len(even)), even, 20)
				digits := fenced[byte](t, entries)
				copy(digits, bytes.Repeat([]byte("12 3\n"), entries/5))
				Numbers(fenced[uint32](t, entries/3), digits, NumberLines{Sep: ' ', Limit: 1 << 32, Least: -1 << 32})
				Pack(fenced[byte](t, (entries+15)/16*4), fenced[byte](t, entries/8+9), fenced[uint32](t, entries), &[32]Width{{0, 1}})
				Gather(Rows[T]{dst, k}, k, scale, Rows[T]{x, k}, ptr, col, val)
				factors := fenced[float64](t, rows)
				ScaleTo(scale, 2, factors)
				AddRows(Rows[T]{dst, k}, 3, k, Rows[T]{dst, k}, scale[:3], Rows[T]{x, k})
			}
		}
	})
}

func TestDecodersStayInTheirMemory(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		for _, n := range decodedCounts(100) {
			for _, widths := range [][4]uint8{{0, 0, 0, 0}, {1, 5, 9, 31}, {31, 31, 31, 31}} {
				ids := make([]uint32, n)
				for e := range ids {
					ids[e] = uint32(e*e) % 31 * 0x1234567 & (1<<31 - 1)
				}
				if widths[3] == 0 {
					for e := range ids {
						ids[e] = 0
					}
				}
				bits := widths[3]
				sel, data := encode(ids, widths, bits)
				dst, s, d := fenced[uint32](t, n+16), fenced[byte](t, len(sel)), fenced[byte](t, len(data))
				copy(s, sel)
				copy(d, data)
				Decode(dst, n, s, d, widths, bits)
			}
		}
	})
}
