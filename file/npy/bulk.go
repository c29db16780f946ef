package npy

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"github.com/heatwalk/heatwalk/file/textio"
)

// isNative reports whether elements of a can be read without conversion.
func isNative(a *Array) bool {
	return isLittleEndian() && a.order == binary.ByteOrder(binary.LittleEndian)
}

func isLittleEndian() bool {
	return binary.NativeEndian.Uint16([]byte{1, 0}) == 1
}

func (a *Array) into(memory unsafe.Pointer, n int) error {
	if n == 0 {
		return nil
	}
	if _, err := io.ReadFull(a.in, unsafe.Slice((*byte)(memory), n*a.Width)); err != nil {
		return a.short(err)
	}
	a.At += int64(n)
	return nil
}

// Uint32s reads the next len(dst) elements of an array of integers. It reports whether all are in 0 … 2³²−1;
// otherwise the content of dst is undefined.
func (a *Array) Uint32s(dst []uint32) (ok bool, err error) {
	if a.Kind != 'i' && a.Kind != 'u' {
		return false, nil
	}
	if a.Width == 4 && isNative(a) {
		err := a.into(unsafe.Pointer(unsafe.SliceData(dst)), len(dst))
		var union uint32
		for _, v := range dst {
			union |= v
		}
		return a.Kind == 'u' || union <= math.MaxInt32, err
	}
	b, err := a.raw(len(dst))
	if err != nil {
		return false, err
	}
	var high uint64 // bits that do not fit
	for i := range dst {
		v := uint64(a.integer(b[i*a.Width:]))
		dst[i] = uint32(v)
		high |= v >> 32
	}
	return high == 0, nil
}

// Folder is a folder of arrays in files NAME.npy.
type Folder struct {
	Name string // name for messages

	mu    sync.Mutex
	files []*os.File // guarded by mu
}

func (f *Folder) path(name string) string {
	return filepath.Join(f.Name, name+".npy")
}

// Has reports whether the folder contains an array of this name.
func (f *Folder) Has(name string) bool {
	info, err := os.Stat(f.path(name))
	return err == nil && info.Mode().IsRegular()
}

// IsEmpty reports whether the folder contains no sparse matrix.
func (f *Folder) IsEmpty() bool { return !f.Has("indptr") }

// Size returns the size in bytes of the file of an array, or 0 if it is missing.
func (f *Folder) Size(name string) int64 {
	info, err := os.Stat(f.path(name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// Open reads the header of an array. [Folder.Close] closes the file.
func (f *Folder) Open(name string) (*Array, error) {
	file, err := os.Open(f.path(name))
	if os.IsNotExist(err) {
		return nil, textio.Fault(f.Name, 0,
			"save indptr, indices and data of A.tocsr()",
			"the file %s.npy is missing", name)
	}
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.files = append(f.files, file)
	f.mu.Unlock()
	return Read(f.Name+": "+name, file)
}

// Close closes the files that Open opened.
func (f *Folder) Close() {
	for _, file := range f.files {
		_ = file.Close() // the file was only read
	}
	f.files = nil
}
