package learn

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

// modelVersion is the number of the format that is written. readModel reads it and oldModelVersion, whose files have no
// origin.
const (
	modelVersion    = 3
	oldModelVersion = 2
)

// modelFile is a kept model: a fitted method with the labels that it has learned from, by id. docs/format.md has every byte.
type modelFile struct {
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

	Graph *modelFigures `json:"graph,omitempty"` // of the graph that the model was learned from; nil: not known

	Memory int64 `json:"-"` // largest number of bytes of the model, set by readModel
}

// modelMagic begins every file. A version and the CRC of the rest follow.
const modelMagic = "heatwalk model "

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errModelText is returned for an id or a class that is not UTF-8, which JSON does not hold.
var errModelText = errors.New("modelfile: an id or the name of a class is not UTF-8")

// CheckText returns an error that wraps [errModelText] if an id or a class is not UTF-8.
func (f *modelFile) CheckText() error {
	for _, text := range slices.Concat(f.IDs, f.Classes) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%w: %q", errModelText, text)
		}
	}
	return nil
}

// writeModel writes a model whose names [modelFile.CheckText] accepts.
func writeModel(w io.Writer, f *modelFile) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s%d\n%s\n", modelMagic, modelVersion, modelChecksum(modelVersion, body.Bytes())); err != nil {
		return err
	}
	_, err := w.Write(body.Bytes())
	return err
}

// modelChecksum returns the second line of a file. From the format 3 on the sum covers the first line too.
func modelChecksum(version int, body []byte) string {
	sum := uint32(0)
	if version > oldModelVersion {
		sum = crc32.Checksum(fmt.Appendf(nil, "%s%d\n", modelMagic, version), castagnoli)
	}
	return fmt.Sprintf("crc %08x", crc32.Update(sum, castagnoli, body))
}

// memoryFactor is the largest ratio of the memory of a model, while it is decoded, to the size of its file.
const memoryFactor = 8

// readModel reads a model in at most the given bytes of memory (0: no limit). The error is an [*input.Error] for
// a file that is no model, wraps [shard.ErrVersion] for one of another version and [budget.ErrMemory] for one
// above the limit, and is a [*shard.CorruptError] for a damaged one.
func readModel(path string, memory int64) (*modelFile, error) {
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
	number, isModel := strings.CutPrefix(string(first), modelMagic)
	version, err := strconv.Atoi(strings.TrimSuffix(number, "\n"))
	if !isModel || err != nil {
		return nil, input.Fault(path, 1,
			"give a file that --save-model of classify or regress wrote", "this is no model")
	}
	if version < oldModelVersion || version > modelVersion {
		remedy := "save the model again with this heatwalk"
		if version > modelVersion {
			remedy = "update heatwalk"
		}
		return nil, &modelVersionError{path, version, remedy}
	}
	f := &modelFile{Memory: memoryFactor * info.Size()}
	if err := budget.Check(memory, f.Memory, "the model"); err != nil {
		return nil, err
	}
	tail, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	sum, body, _ := bytes.Cut(tail, []byte("\n"))
	if want := modelChecksum(version, body); string(sum) != want {
		return nil, modelDamage(path,
			fmt.Sprintf("%q where the content has %q", sum, want))
	}
	if err := json.Unmarshal(body, f); err != nil {
		return nil, modelDamage(path, err.Error())
	}
	if problem := f.validate(); problem != "" {
		return nil, modelDamage(path, problem)
	}
	if f.Several != nil {
		f.Several.Edges = f.Model
	}
	if version == oldModelVersion {
		return f, f.readOrigin(body)
	}
	return f, nil
}

// readOrigin fills in the origin from the fields of the format oldModelVersion.
func (f *modelFile) readOrigin(body []byte) error {
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
		o.Reading = map[string]string{unweightedEdges: "true"}
	}
	return err
}

// unweightedEdges is the setting of reading by which lines with weight 0 are edges, see ingest.Config.
const unweightedEdges = "unweighted"

// modelVersionError is the error of a model of a format that this package does not read. It wraps [shard.ErrVersion].
type modelVersionError struct {
	Path    string
	Version int
	Remedy  string
}

// Error implements error.
func (e *modelVersionError) Error() string {
	return fmt.Sprintf("%s: model of format %d; this heatwalk reads %d and %d; %s", e.Path, e.Version, oldModelVersion, modelVersion, e.Remedy)
}

// Unwrap returns [shard.ErrVersion].
func (e *modelVersionError) Unwrap() error { return shard.ErrVersion }

// validate returns the first problem of labels that do not fit each other, or "".
func (f *modelFile) validate() string {
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

// modelDamage returns the error about a changed file.
func modelDamage(path, problem string) error {
	return &shard.CorruptError{Path: path, Offset: -1,
		What: problem + "; restore the file or save the model again"}
}

// Rows returns the row of each labelled node. The error is an [*input.Error] for a node that is not in
// the graph.
func (f *modelFile) Rows(path string,
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
