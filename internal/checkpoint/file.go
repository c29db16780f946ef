package checkpoint

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// Run says of which run a file is: by sums over all that its result depends on.
type Run struct {
	Version string `json:"version"` // of the program
	Graph   string `json:"graph"`
	Labels  string `json:"labels"` // or lists of nodes
	Options string `json:"options"`
}

// Error says why a run cannot go on from a file.
type Error struct {
	Path    string // "" if it is about several files together
	What    string // what is wrong
	Damaged bool   // it is no such file, or not all of it
}

// Error says what is wrong.
func (e *Error) Error() string { return strings.TrimPrefix(e.Path+": "+e.What, ": ") }

// begins stands at the beginning of every file.
const begins = "heatwalk checkpoint 1\n"

// writeBegin writes what all files of a run begin with.
func writeBegin(to io.Writer, of Run) error {
	if _, err := io.WriteString(to, begins); err != nil {
		return err
	}
	return writeRecord(to, func(w io.Writer) error { return json.NewEncoder(w).Encode(of) })
}

// readBegin reads it, of a file at path, and checks that it is of the run.
func readBegin(from io.Reader, path string, of Run) error {
	line := make([]byte, len(begins))
	if _, err := io.ReadFull(from, line); err != nil || string(line) != begins {
		return errDamaged
	}
	text, err := io.ReadAll(newReader(from))
	if err != nil {
		return err
	}
	var was Run
	if json.Unmarshal(text, &was) != nil {
		return errDamaged
	}
	for _, part := range []struct{ what, is, was string }{
		{"with other edges", of.Graph, was.Graph},
		{"with other labels", of.Labels, was.Labels},
		{"with other options", of.Options, was.Options},
		{"of another version", of.Version, was.Version},
	} {
		if part.is != part.was {
			return &Error{path, "is of a run " + part.what, false}
		}
	}
	return nil
}

// Write replaces the file at path, whole or not at all, by one of a run that holds what
// write writes.
func Write(path string, of Run, write func(w io.Writer) error) error {
	file, err := durable.NewFile(durable.OS, path)
	if err != nil {
		return err
	}
	if err = writeBegin(file, of); err == nil {
		err = writeRecord(file, write)
	}
	if err != nil {
		return errors.Join(err, file.Abort())
	}
	return durable.Commit(nil, file)
}

// Read gives read what a file holds, if there is one of that path.
func Read(path string, of Run, read func(r io.Reader) error) error {
	return open(path, func(all *io.SectionReader) error {
		err := readBegin(all, path, of)
		if err != nil {
			return err
		}
		record := newReader(all)
		if err = read(record); err == nil {
			_, err = io.Copy(io.Discard, record)
		}
		if at, _ := all.Seek(0, io.SeekCurrent); err == nil && at < all.Size() {
			err = errDamaged
		}
		return err
	})
}

// open gives read the bytes of the file at path, if there is one, and says where they are
// damaged.
func open(path string, read func(all *io.SectionReader) error) error {
	file, err := durable.OS.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		err = read(io.NewSectionReader(file, 0, info.Size()))
	}
	return errors.Join(placed(err, path), file.Close())
}

// placed returns err, of a file that is damaged as an [*Error] with its path.
func placed(err error, path string) error {
	if errors.Is(err, errDamaged) || errors.Is(err, errTorn) {
		return &Error{path, "is damaged, or no journal", true}
	}
	return err
}

// Remove removes the file at path, if there is one.
func Remove(path string) error {
	durable.RemoveUnused(durable.OS, path)
	if err := durable.OS.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// File holds the state of a run, and bounds what writing it takes to a twentieth of the
// time. A nil one keeps nothing.
type File struct {
	path   string
	run    func() (Run, error)
	spare  int64
	resume bool
	kept   bool

	begun, next time.Time     // of saving, and when it is looked whether to write
	bytes       int64         // of a state; 0 before they are counted
	takes       time.Duration // to write it, as expected
	spent       time.Duration // on writing
}

// NewFile returns the journal of a run beside its output, for which so many bytes of the disk
// are spared. Of which run it is, is asked once it is written, or at once if
// it is resumed, where all of the file that is there is checked. There is none, and nil is
// returned, beside an output that is none in a file.
func NewFile(output string, spare int64, resume bool, run func() (Run, error)) (*File, error) {
	if !inFile(output) {
		return nil, nil
	}
	f := &File{path: output + ".journal", run: sync.OnceValues(run), spare: spare, resume: resume}
	return f, f.Load(func(io.Reader) error { return nil })
}

// inFile reports whether an output is one in a file, beside which a journal may stand.
func inFile(output string) bool {
	info, err := durable.OS.Stat(output)
	return output != "-" && (err != nil || info.Mode().IsRegular())
}

// Rest is how many times as long as writing a file a run goes on until it does so again.
const Rest = 20

// Warmup is how long a run goes on until it writes for the first time.
var Warmup = 5 * time.Second

// Save writes what write writes if it is time to. The first call begins the time. A file that
// cannot be written ends no run: what it held before stays.
func (f *File) Save(write func(w io.Writer) error) error {
	start := time.Now()
	if f == nil || start.Before(f.next) {
		return nil
	}
	if f.next.IsZero() {
		f.begun, f.next = start, start.Add(Warmup)
		return nil
	}
	if f.bytes == 0 { // a short run is not held up by a large state
		var size counter
		if err := write(&size); err != nil {
			return err
		}
		f.bytes = int64(size)
		f.takes = time.Duration(float64(f.bytes) / usualBytes * float64(usualTime))
	}
	if f.spent+f.takes > start.Sub(f.begun)/Rest {
		f.next = f.begun.Add(Rest * (f.spent + f.takes))
		return nil
	}
	if free, err := durable.OS.Free(filepath.Dir(f.path)); err != nil || free-f.bytes >= f.spare {
		of, err := f.run()
		if err != nil {
			return err
		}
		f.kept = Write(f.path, of, write) == nil || f.kept
	}
	f.takes = time.Since(start)
	f.spent += f.takes
	f.next = time.Now().Add(Warmup)
	return nil
}

// counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// Load gives read what the file of a run that is resumed holds, if there is one.
func (f *File) Load(read func(r io.Reader) error) error {
	if f == nil || !f.resume {
		return nil
	}
	of, err := f.run()
	if err != nil {
		return err
	}
	return Read(f.path, of, func(r io.Reader) error {
		err := read(r)
		f.kept = err == nil
		return err
	})
}

// Kept reports whether there is something to go on from.
func (f *File) Kept() bool { return f != nil && f.kept }

// Remove removes the file of a run whose result is in place.
func (f *File) Remove() error {
	if f == nil {
		return nil
	}
	return Remove(f.path)
}
