package npy

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/file/textio"
)

// Archive is a .npz file: a zip archive of arrays in members NAME.npy.
type Archive struct {
	Name string // name for messages

	// Watch, if not nil, wraps the reader of each array, for example to count bytes.
	Watch func(io.Reader) io.Reader

	members map[string]*zip.File // arrays by name; of equal names the first
	single  string               // name of the only member, if it is an array
}

// OpenArchive reads the directory of an archive of size bytes.
func OpenArchive(name string, in io.ReaderAt, size int64) (*Archive, error) {
	z, err := zip.NewReader(in, size)
	if err != nil {
		return nil, &textio.Error{File: name,
			Msg: "no whole zip archive, which a .npz file is",
			Fix: fetchAgain, Err: err}
	}
	a := &Archive{Name: name, members: map[string]*zip.File{}}
	for _, m := range z.File {
		member, isArray := strings.CutSuffix(m.Name, ".npy")
		isArray = isArray || path.Ext(m.Name) == "" // npyio writes names without an ending
		if _, twice := a.members[member]; isArray && !twice {
			a.members[member] = m
			if len(z.File) == 1 {
				a.single = member
			}
		}
	}
	return a, nil
}

// Has reports whether the archive contains an array of this name.
func (a *Archive) Has(name string) bool {
	return a.members[name] != nil
}

// IsEmpty reports whether the archive contains no arrays.
func (a *Archive) IsEmpty() bool { return len(a.members) == 0 }

// Single returns the name of the only member, or "" if there are several or it is not an array.
func (a *Archive) Single() string { return a.single }

// Size returns the size in bytes of an array with its header, according to the directory.
func (a *Archive) Size(name string) int64 {
	return int64(a.members[name].UncompressedSize64)
}

// Open reads the header of an array. The array need not be closed.
func (a *Archive) Open(name string) (*Array, error) {
	m := a.members[name]
	if m == nil {
		return nil, textio.Fault(a.Name, 0, "save it with scipy.sparse.save_npz",
			"the array %s is missing", name)
	}
	const encrypted = 1
	if m.Flags&encrypted != 0 {
		return nil, textio.Fault(a.Name, 0, "save it without a password",
			"the array %s is encrypted", name)
	}
	r, err := m.Open()
	if err != nil {
		return nil, textio.Fault(a.Name, 0, fetchAgain,
			"the array %s cannot be read (%w)", name, err)
	}
	var in io.Reader = r
	if a.Watch != nil {
		in = a.Watch(r)
	}
	return Read(a.Name+": "+name, in)
}

// ArchiveWriter writes a .npz file, without compression.
type ArchiveWriter struct {
	zip *zip.Writer
}

// NewArchive returns an empty archive that is written to w.
func NewArchive(w io.Writer) *ArchiveWriter {
	return &ArchiveWriter{zip.NewWriter(w)}
}

// Member begins an array. The caller must write all of it, with its header, before the next array.
func (z *ArchiveWriter) Member(name string) (io.Writer, error) {
	return z.zip.CreateHeader(&zip.FileHeader{Name: name + ".npy",
		Method: zip.Store})
}

// Strings writes an array of n strings in NumPy's fixed-width Unicode form. Bytes that are not UTF-8 become
// U+FFFD.
func (z *ArchiveWriter) Strings(name string, n int, text func(i int) string) error {
	w, err := z.Member(name)
	if err != nil {
		return err
	}
	width := 1
	for i := range n {
		width = max(width, utf8.RuneCountInString(text(i)))
	}
	if _, err := w.Write(Header(fmt.Sprintf("<U%d", width), n)); err != nil {
		return err
	}
	element := make([]byte, 0, 4*width)
	for i := range n {
		element = element[:0]
		for _, r := range text(i) {
			element = binary.LittleEndian.AppendUint32(element, uint32(r))
		}
		used := len(element)
		element = element[:4*width]
		clear(element[used:])
		if _, err := w.Write(element); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the directory. It does not close the underlying writer.
func (z *ArchiveWriter) Close() error { return z.zip.Close() }
