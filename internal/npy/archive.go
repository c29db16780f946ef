package npy

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Archive is a .npz file: a zip archive whose members NAME.npy are arrays.
type Archive struct {
	Name string // for messages

	members map[string]*zip.File // of several of one name, the first
	single  string               // the name of the only member, if it is an array
}

// directory reads a file as far as its zip directory may go, which is kept.
type directory struct {
	io.ReaderAt
	left int64 // bytes
}

// maxDirectory is how much of a file is read to find its directory: that of
// thousands of arrays, and the end of the file in which it is looked for.
const maxDirectory = 1<<20 + 1<<17

var errDirectory = errors.New("npy: large zip directory")

// ReadAt implements [io.ReaderAt].
func (d *directory) ReadAt(p []byte, at int64) (int, error) {
	if d.left -= int64(len(p)); d.left < 0 {
		return 0, errDirectory
	}
	return d.ReaderAt.ReadAt(p, at)
}

// OpenArchive reads the directory of an archive of so many bytes.
func OpenArchive(name string, in io.ReaderAt, size int64) (*Archive, error) {
	d := &directory{in, maxDirectory}
	z, err := zip.NewReader(d, size)
	if errors.Is(err, errDirectory) {
		return nil, &Error{Array: name, What: "a zip directory of more than 1 MiB", Fix: "save the arrays that are wanted in a file of their own"}
	}
	if err != nil {
		return nil, &Error{Array: name, What: "no whole zip archive, which a .npz file is", Fix: fetchAgain, Err: err}
	}
	d.left = math.MaxInt64
	a := &Archive{Name: name, members: map[string]*zip.File{}}
	for _, m := range z.File {
		member, isArray := strings.CutSuffix(m.Name, ".npy")
		if _, twice := a.members[member]; isArray && !twice {
			a.members[member] = m
			if len(z.File) == 1 {
				a.single = member
			}
		}
	}
	return a, nil
}

// Has reports whether there is an array of that name.
func (a *Archive) Has(name string) bool { return a.members[name] != nil }

// IsEmpty reports whether there is no array, as in an archive of other files.
func (a *Archive) IsEmpty() bool { return len(a.members) == 0 }

// Single returns the name of the only member, or "" if there are several or it is
// no array.
func (a *Archive) Single() string { return a.single }

// Size returns how many bytes an array has with its header, as the directory says.
func (a *Archive) Size(name string) int64 { return int64(a.members[name].UncompressedSize64) }

// Open reads the header of an array; watch, unless nil, is put before what reads
// it. Nothing has to be closed.
func (a *Archive) Open(name string, watch func(io.Reader) io.Reader) (*Array, error) {
	m := a.members[name]
	if m == nil {
		return nil, &Error{Array: a.Name, What: fmt.Sprintf("the array %s is missing", name), Fix: "save it with scipy.sparse.save_npz"}
	}
	const encrypted = 1 // a flag
	if m.Flags&encrypted != 0 {
		return nil, &Error{Array: a.Name, What: fmt.Sprintf("the array %s is encrypted", name), Fix: "save it without a password"}
	}
	r, err := m.Open()
	if err != nil {
		return nil, &Error{Array: a.Name, What: fmt.Sprintf("the array %s cannot be read (%v)", name, err), Fix: fetchAgain, Err: err}
	}
	var in io.Reader = r
	if watch != nil {
		in = watch(r)
	}
	return Read(a.Name+": "+name, in)
}
