package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

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
	Path    string
	What    string // the problem
	Damaged bool   // the file is not a checkpoint, or incomplete
}

// Error returns path and problem.
func (e *Error) Error() string { return e.Path + ": " + e.What }

// head is the format of the beginning of every file, with the CRC-32C of the bytes behind it.
const head = "heatwalk checkpoint 2 %08x\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// content is the rest of a file, as JSON.
type content struct {
	Run   Run             `json:"run"`
	Value json.RawMessage `json:"value"`
}

// Write atomically replaces the file at path by a file of the run with value, as JSON.
func Write(path string, run Run, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		text, err = json.Marshal(content{run, text})
	}
	if err != nil {
		return err
	}
	file, err := durable.NewFile(durable.OS, path)
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(file, head+"%s", crc32.Checksum(text, castagnoli), text); err != nil {
		return errors.Join(err, file.Abort())
	}
	return durable.Commit(nil, file)
}

// Read stores the content of the file at path in value, if the file exists and belongs to the run.
func Read(path string, run Run, value any) error {
	damaged := &Error{path, "is damaged, or no journal", true}
	info, err := durable.OS.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // reading a pipe would wait for a writer
		return damaged
	}
	file, err := durable.OS.Open(path)
	if err != nil {
		return err
	}
	section, err := io.ReadAll(io.NewSectionReader(file, 0, info.Size()))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	_, text, _ := bytes.Cut(section, []byte("\n"))
	var c content
	if !bytes.HasPrefix(section, fmt.Appendf(nil, head, crc32.Checksum(text, castagnoli))) || json.Unmarshal(text, &c) != nil {
		return damaged
	}
	for _, part := range []struct{ what, is, was string }{
		{"with other edges", run.Graph, c.Run.Graph},
		{"with other labels or nodes", run.Labels, c.Run.Labels},
		{"with other options", run.Options, c.Run.Options},
		{"of another version", run.Version, c.Run.Version},
	} {
		if part.is != part.was {
			return &Error{path, "is of a run " + part.what, false}
		}
	}
	return json.Unmarshal(c.Value, value)
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

// Rest is the least pause between two writes of a file, in multiples of the time of a write.
const Rest = 20
