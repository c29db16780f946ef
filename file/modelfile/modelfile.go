// Package modelfile writes and reads kept models: a fitted method with the labels that it has learned
// from, by id. docs/format.md has every byte.
//
//	err := modelfile.Write(w, &modelfile.File{Model: kept, IDs: ids, Class: class, Classes: names})
//	f, err := modelfile.Read("model")
package modelfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Version is the number of the format that is written, the only one that is read.
const Version = 1

// File is a model with its labels.
type File struct {
	Model      *method.Model `json:"model"`
	Classes    []string      `json:"classes"`              // names of the classes, in the order of scores
	IDs        []string      `json:"ids"`                  // of labelled nodes, in the order of the model
	Class      []int         `json:"class"`                // of each of IDs, a position in Classes
	Shares     []float64     `json:"shares,omitempty"`     // known shares of the classes among all nodes
	Attributes int           `json:"attributes,omitempty"` // columns of attributes of nodes
	Directed   bool          `json:"directed,omitempty"`   // the graph had edges with a direction
}

// magic begins every file. A version and the CRC of the rest follow.
const magic = "heatwalk model "

var table = crc32.MakeTable(crc32.Castagnoli)

// ErrText is returned for an id or a class that is not UTF-8, which JSON does not hold.
var ErrText = errors.New("modelfile: an id or the name of a class is not UTF-8")

// Write writes a model.
func Write(w io.Writer, f *File) error {
	for _, list := range [][]string{f.IDs, f.Classes} {
		for _, text := range list {
			if !utf8.ValidString(text) {
				return fmt.Errorf("%w: %q", ErrText, text)
			}
		}
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s%d\ncrc %08x\n", magic, Version, crc32.Checksum(body.Bytes(), table)); err != nil {
		return err
	}
	_, err := w.Write(body.Bytes())
	return err
}

// Read reads a model. The error is an [*input.Error] for a file that is no model, wraps
// [shard.ErrVersion] for one of another version, and is a [*shard.CorruptError] for a damaged one.
func Read(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rest, is := bytes.CutPrefix(text, []byte(magic))
	first, rest, hasLine := bytes.Cut(rest, []byte("\n"))
	version, err := strconv.Atoi(string(first))
	if !is || !hasLine || err != nil {
		return nil, input.Fault(path, 1, "give a file that classify --save-model wrote", "this is no model")
	}
	if version != Version {
		return nil, fmt.Errorf("%w: %s: model of format %d; this heatwalk reads %d; save the model again with this heatwalk", shard.ErrVersion, path, version, Version)
	}
	sum, body, _ := bytes.Cut(rest, []byte("\n"))
	if want := fmt.Sprintf("crc %08x", crc32.Checksum(body, table)); string(sum) != want {
		return nil, Damaged(path, fmt.Sprintf("%q where the content has %q", sum, want))
	}
	f := new(File)
	if err := json.Unmarshal(body, f); err != nil {
		return nil, Damaged(path, err.Error())
	}
	if f.Model == nil || len(f.IDs) != len(f.Class) || f.Shares != nil && len(f.Shares) != len(f.Classes) {
		return nil, Damaged(path, "labels and model do not fit")
	}
	known := make(map[string]bool, len(f.IDs))
	for i, c := range f.Class {
		if known[f.IDs[i]] {
			return nil, Damaged(path, fmt.Sprintf("two labels of node %q", f.IDs[i]))
		}
		known[f.IDs[i]] = true
		if c < 0 || c >= len(f.Classes) {
			return nil, Damaged(path, fmt.Sprintf("a label of class %d of %d", c, len(f.Classes)))
		}
	}
	return f, nil
}

// Damaged returns the error about a changed file.
func Damaged(path, problem string) error {
	return &shard.CorruptError{Path: path, Offset: -1, What: problem + "; restore the file or save the model again"}
}

// Rows returns the row of each labelled node. The error is an [*input.Error] for a node that is not in
// the graph.
func (f *File) Rows(path string, lookup func(id string) (row int, ok bool)) ([]int, error) {
	rows := make([]int, len(f.IDs))
	for i, id := range f.IDs {
		row, ok := lookup(id)
		if !ok {
			return nil, input.Fault(path, 0, "give a graph with all labelled nodes, or learn a model on this one", "the model was learned with a label of node %q, which is not in the graph", id)
		}
		rows[i] = row
	}
	return rows, nil
}
