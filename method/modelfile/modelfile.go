// Package modelfile writes and reads kept models: a fitted method with the labels that it has learned
// from, by id. docs/format.md has every byte.
//
//	err := modelfile.Write(w, &modelfile.File{Model: kept, IDs: ids, Class: class, Classes: names})
//	f, err := modelfile.Read("model", 0)
package modelfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/multilabel"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Version is the number of the format that is written. This package reads it and oldVersion, whose files have no origin.
const (
	Version    = 3
	oldVersion = 2
)

// File is a model with its labels.
type File struct {
	Model      *method.Model `json:"model"`
	Classes    []string      `json:"classes,omitempty"`    // names of the classes, in the order of scores
	IDs        []string      `json:"ids"`                  // of labelled nodes, in the order of the model
	Class      []int         `json:"class,omitempty"`      // of each of IDs, a position in Classes
	Value      []float64     `json:"value,omitempty"`      // of a model of numbers: that of each of IDs, in place of Class
	Shares     []float64     `json:"shares,omitempty"`     // known shares of the classes among all nodes
	Attributes int           `json:"attributes,omitempty"` // columns of attributes of nodes

	// AttributeNames are the titles of the columns of a table that the attributes come from, with their
	// categories, see [tablefile.Features.Name]; nil: of a matrix.
	AttributeNames []string `json:"attribute_names,omitempty"`

	// AttributeMeans are the values of the columns in place of missing ones; nil: of a matrix.
	AttributeMeans []float64 `json:"attribute_means,omitempty"`

	Several *multilabel.Kept `json:"several,omitempty"` // of several labels a node; Model has the weights of edges alone

	Scores *choose.Scores `json:"held_out_scores,omitempty"` // nil: the method has none

	Graph *Figures `json:"graph,omitempty"` // of the graph that the model was learned from; nil: not known

	Memory int64 `json:"-"` // largest number of bytes of the model, set by Read
}

// magic begins every file. A version and the CRC of the rest follow.
const magic = "heatwalk model "

var table = crc32.MakeTable(crc32.Castagnoli)

// ErrText is returned for an id or a class that is not UTF-8, which JSON does not hold.
var ErrText = errors.New("modelfile: an id or the name of a class is not UTF-8")

// CheckText returns an error that wraps [ErrText] if an id or a class is not UTF-8.
func (f *File) CheckText() error {
	for _, text := range slices.Concat(f.IDs, f.Classes) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%w: %q", ErrText, text)
		}
	}
	return nil
}

// Write writes a model whose names [File.CheckText] accepts.
func Write(w io.Writer, f *File) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s%d\n%s\n", magic, Version, checksum(Version, body.Bytes())); err != nil {
		return err
	}
	_, err := w.Write(body.Bytes())
	return err
}

// checksum returns the second line of a file. From the format 3 on the sum covers the first line too.
func checksum(version int, body []byte) string {
	sum := uint32(0)
	if version > oldVersion {
		sum = crc32.Checksum(fmt.Appendf(nil, "%s%d\n", magic, version), table)
	}
	return fmt.Sprintf("crc %08x", crc32.Update(sum, table, body))
}

// memoryFactor is the largest ratio of the memory of a model, while it is decoded, to the size of its file.
const memoryFactor = 8

// Read reads a model in at most the given bytes of memory (0: no limit). The error is an [*input.Error] for
// a file that is no model, wraps [shard.ErrVersion] for one of another version and [budget.ErrMemory] for one
// above the limit, and is a [*shard.CorruptError] for a damaged one.
func Read(path string, memory int64) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(file)
	first, _ := r.ReadSlice('\n') // without the end of a line it is no header either
	number, isModel := strings.CutPrefix(string(first), magic)
	version, err := strconv.Atoi(strings.TrimSuffix(number, "\n"))
	if !isModel || err != nil {
		return nil, input.Fault(path, 1,
			"give a file that --save-model of classify or regress wrote", "this is no model")
	}
	if version < oldVersion || version > Version {
		remedy := "save the model again with this heatwalk"
		if version > Version {
			remedy = "update heatwalk"
		}
		return nil, &VersionError{path, version, remedy}
	}
	f := &File{Memory: memoryFactor * info.Size()}
	if err := budget.Check(memory, f.Memory, "the model"); err != nil {
		return nil, err
	}
	tail, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	sum, body, _ := bytes.Cut(tail, []byte("\n"))
	if want := checksum(version, body); string(sum) != want {
		return nil, DamageError(path,
			fmt.Sprintf("%q where the content has %q", sum, want))
	}
	if err := json.Unmarshal(body, f); err != nil {
		return nil, DamageError(path, err.Error())
	}
	if problem := f.validate(); problem != "" {
		return nil, DamageError(path, problem)
	}
	if f.Several != nil {
		f.Several.Edges = f.Model
	}
	if version == oldVersion {
		return f, f.readOrigin(body)
	}
	return f, nil
}

// readOrigin fills in the origin from the fields of the format oldVersion.
func (f *File) readOrigin(body []byte) error {
	var old struct {
		Directed, Unweighted bool
		Model                struct {
			Edges   *sides.Kept
			Weights string
		}
	}
	err := json.Unmarshal(body, &old)
	o := &f.Model.Origin
	o.Directed = old.Directed
	o.Edges = old.Model.Edges
	o.Weights = old.Model.Weights
	if old.Unweighted {
		o.Reading = map[string]string{Unweighted: "true"}
	}
	return err
}

// Unweighted is the setting of reading by which lines with weight 0 are edges, see ingest.Config.
const Unweighted = "unweighted"

// VersionError is the error of a model of a format that this package does not read. It wraps [shard.ErrVersion].
type VersionError struct {
	Path    string
	Version int
	Remedy  string
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: model of format %d; this heatwalk reads %d and %d; %s", e.Path, e.Version, oldVersion, Version, e.Remedy)
}

// Unwrap returns [shard.ErrVersion].
func (e *VersionError) Unwrap() error { return shard.ErrVersion }

// validate returns the first problem of labels that do not fit each other, or "".
func (f *File) validate() string {
	if f.Model == nil || len(f.IDs) != len(f.Class)+len(f.Value) || f.Class != nil && f.Value != nil ||
		f.Shares != nil && len(f.Shares) != len(f.Classes) ||
		f.AttributeMeans != nil && len(f.AttributeMeans) != len(f.AttributeNames) ||
		f.Scores != nil && !f.Scores.Valid() {
		return "labels and model do not fit"
	}
	if slices.ContainsFunc(f.Shares,
		func(share float64) bool { return share < 0 || share > 1 }) {
		return "a share of a class is not between 0 and 1"
	}
	if f.Several != nil && !f.Several.Valid(len(f.Classes)) {
		return "labels and model do not fit"
	}
	isLabelled := make(map[string]bool, len(f.IDs))
	hasLabel := make([]bool, len(f.Classes))
	for _, id := range f.IDs {
		if isLabelled[id] && f.Several == nil {
			return fmt.Sprintf("two labels of node %q", id)
		}
		isLabelled[id] = true
	}
	for _, c := range f.Class {
		if c < 0 || c >= len(f.Classes) {
			return fmt.Sprintf("a label of class %d of %d", c, len(f.Classes))
		}
		hasLabel[c] = true
	}
	if slices.Contains(hasLabel, false) {
		return "a class without a label"
	}
	return ""
}

// DamageError returns the error about a changed file.
func DamageError(path, problem string) error {
	return &shard.CorruptError{Path: path, Offset: -1,
		What: problem + "; restore the file or save the model again"}
}

// Rows returns the row of each labelled node. The error is an [*input.Error] for a node that is not in
// the graph.
func (f *File) Rows(path string,
	lookup func(id string) (row int, ok bool)) ([]int, error) {
	rows := make([]int, len(f.IDs))
	for i, id := range f.IDs {
		row, ok := lookup(id)
		if !ok {
			return nil, input.Fault(path, 0,
				"give a graph with all labelled nodes, for which {nodes=FILE} adds those without an edge, or learn a model on this one", "the model was learned with a label of node %q, which is not in the graph", id)
		}
		rows[i] = row
	}
	return rows, nil
}
