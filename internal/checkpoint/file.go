package checkpoint

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// Run identifies a run by hashes of everything that its result depends on.
type Run struct {
	Version string `json:"version"` // version of the program
	Graph   string `json:"graph"`
	Labels  string `json:"labels"` // hash of the labels and lists of nodes
	Options string `json:"options"`
}

// Error is the reason why a run cannot continue from a file.
type Error struct {
	Path    string // "" if it is about several files
	What    string // the problem
	Damaged bool   // the file is not a checkpoint, or incomplete
}

// Error returns path and problem.
func (e *Error) Error() string { return strings.TrimPrefix(e.Path+": "+e.What, ": ") }

// begins is the first line of every file.
const begins = "heatwalk checkpoint 1\n"

// readBegin reads the beginning of the file at path, and checks that it belongs to the run.
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
		{"with other labels or nodes", of.Labels, was.Labels},
		{"with other options", of.Options, was.Options},
		{"of another version", of.Version, was.Version},
	} {
		if part.is != part.was {
			return &Error{path, "is of a run " + part.what, false}
		}
	}
	return nil
}

// Write atomically replaces the file at path by a file of the run with the content that write writes.
func Write(path string, of Run, write func(w io.Writer) error) error {
	return begin(path, of, func(w io.Writer) error { return writeRecord(w, write) })
}

// begin atomically replaces the file at path by a file of the run; rest writes the content after its
// beginning.
func begin(path string, of Run, rest func(w io.Writer) error) error {
	file, err := durable.NewFile(durable.OS, path)
	if err != nil {
		return err
	}
	if _, err = io.WriteString(file, begins); err == nil {
		err = writeRecord(file, func(w io.Writer) error { return json.NewEncoder(w).Encode(of) })
	}
	if err == nil {
		err = rest(file)
	}
	if err != nil {
		return errors.Join(err, file.Abort())
	}
	return durable.Commit(nil, file)
}

// Read calls read with the content of the file at path, if it exists and belongs to the run.
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

// open calls read with the bytes of the file at path, if it exists. Its error states where the file
// is damaged.
func open(path string, read func(all *io.SectionReader) error) error {
	info, err := durable.OS.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() { // reading a pipe would wait for a writer
		err = errDamaged
	}
	if err != nil {
		return placed(err, path)
	}
	file, err := durable.OS.Open(path)
	if err != nil {
		return err
	}
	err = read(io.NewSectionReader(file, 0, info.Size()))
	return errors.Join(placed(err, path), file.Close())
}

// placed returns err; for a damaged file as an [*Error] with its path.
func placed(err error, path string) error {
	if errors.Is(err, errDamaged) || errors.Is(err, errTorn) {
		return &Error{path, "is damaged, or no journal", true}
	}
	return err
}

// Remove removes the file at path, if it exists. It does not remove a directory or a pipe, because a
// run never writes one.
func Remove(path string) error {
	durable.RemoveUnused(durable.OS, path)
	info, err := durable.OS.Stat(path)
	if err == nil && info.Mode().IsRegular() {
		err = durable.OS.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

const (
	// Rest is how many times as long as writing a file a run goes on until it does so again.
	Rest = 20

	// Warmup is how long a run goes on until it writes for the first time.
	Warmup = 5 * time.Second
)
