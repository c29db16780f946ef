package system

import (
	"testing"
	"unsafe"
)

func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1 << 18, 1<<20 + 1, 5<<20 + 3} {
		data := Make[uint64](n)
		if len(data) != n {
			t.Fatalf("%d elements were asked for, %d given", n, len(data))
		}
		Advise(data)
		for i := range data {
			if data[i] != 0 {
				t.Fatalf("element %d of %d is not zero", i, n)
			}
			data[i] = uint64(i)
		}
		if n > 0 && cap(data) != n && n >= 1<<20 {
			t.Errorf("%d elements have room for %d: what follows them would be kept for an append", n, cap(data))
		}
	}
}

func TestMakeElements(t *testing.T) {
	type pair struct{ a, b float64 }
	data := Make[pair](3 << 20)
	for i := range data {
		data[i] = pair{float64(i), 1}
	}
	if at := uintptr(unsafe.Pointer(&data[0])) % unsafe.Sizeof(data[0]); at != 0 {
		t.Errorf("the first element of 16 bytes begins %d bytes past a multiple of 16", at)
	}
}
