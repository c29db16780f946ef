package heatwalk

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
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
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// LoadModel also reads older versions. oldModelVersion has no origin. Before unitModelVersion, values of a learner on a kernel
// were for the kernel divided by the mean of its diagonal.
const (
	modelVersion     = 4
	unitModelVersion = 4
	oldModelVersion  = 2
)

// Model is a saved model: a method with all its choices, and the labels by id that it has learned from. [Prediction.Save]
// writes it and [LoadModel] reads it. docs/format.md describes the file.
type Model struct {
	Model      *engine.Model `json:"model"`
	Classes    []string      `json:"classes,omitempty"`    // names of the classes, in the order of scores
	IDs        []string      `json:"ids"`                  // ids of labelled nodes, in the order of the model
	Class      []int         `json:"class,omitempty"`      // class of each of IDs, a position in Classes
	Value      []float64     `json:"value,omitempty"`      // number of each of IDs, for a model of numbers
	Shares     []float64     `json:"shares,omitempty"`     // known shares of the classes among all nodes
	Attributes int           `json:"attributes,omitempty"` // columns of attributes of nodes

	// AttributeNames are the titles of the columns of a table of attributes, with their categories, see
	// [tablefile.Features.Name]; nil for a matrix.
	AttributeNames []string `json:"attribute_names,omitempty"`

	// AttributeMeans are the values that replace missing values in each column of a table; nil for a matrix.
	AttributeMeans []float64 `json:"attribute_means,omitempty"`

	// AttributeColumns are the columns of a table of attributes; nil for a matrix, and in models of older formats.
	AttributeColumns []tablefile.KeptColumn `json:"attribute_columns,omitempty"`

	Several *engine.LabelSetModel `json:"several,omitempty"` // model of several labels for each node; nil: each node has one

	Scores *choose.Scores `json:"held_out_scores,omitempty"` // scores of held-out labels; nil: the method has none

	Graph *GraphFigures `json:"graph,omitempty"` // figures of the graph that the model was learned from; nil: unknown

	Path   string `json:"-"` // path of the file, set by LoadModel
	Memory int64  `json:"-"` // bound of the bytes of the model, set by LoadModel

	sum string // checksum of the JSON, set by LoadModel and Write
}

// modelMagic begins every file; a version and the CRC of the other bytes follow.
const modelMagic = "heatwalk model "

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errModelText is about text that JSON, which is UTF-8, cannot hold.
var errModelText = errors.New("heatwalk: an id or the name of a class is not UTF-8")

// CheckText returns an error that wraps [errModelText] if an id or a class is not UTF-8.
func (f *Model) CheckText() error {
	for _, text := range slices.Concat(f.IDs, f.Classes) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%w: %q", errModelText, text)
		}
	}
	return nil
}

// NewModel returns a model of a problem on the graph, still without a method; [Prediction.KeepTo] adds the method. attributes
// are the attributes of the problem, or nil.
func NewModel(g *Graph, p *engine.Problem, attributes *tablefile.Features) *Model {
	f := &Model{Classes: p.Names, Class: p.Class, Value: p.Value, Shares: p.Shares}
	for _, row := range p.Row {
		f.IDs = append(f.IDs, g.Nodes.ID(row))
	}
	if attributes != nil {
		f.Attributes = attributes.Table.Cols
		f.AttributeNames = attributes.Names()
		f.AttributeMeans = attributes.Means()
		f.AttributeColumns = attributes.Kept()
	}
	return f
}

// Save writes the model of the prediction to a file, from which [LoadModel] or heatwalk predict gives the same predictions.
func (p *Prediction) Save(path string) error {
	f := NewModel(p.g, p.given, p.attributes)
	if err := f.CheckText(); err != nil {
		return err
	}
	if err := p.KeepTo(f); err != nil {
		return err
	}
	return writeFile(path, f.Write)
}

// writeFile publishes a file that write writes.
func writeFile(path string, write func(w io.Writer) error) error {
	pending, err := durable.NewFile(durable.OS, path)
	if err != nil {
		return err
	}
	if err := write(pending); err != nil {
		return errors.Join(err, pending.Abort())
	}
	return durable.Commit(nil, pending)
}

// KeepTo stores the method of the prediction and its choices in f, which must be a model of the same problem.
func (p *Prediction) KeepTo(f *Model) (err error) {
	if f.Model, err = p.engine.Keep(p.Prediction, p.settings); err != nil {
		return err
	}
	f.Several = f.Model.LabelSets
	if p.g.Store != nil && p.Value == nil {
		f.Graph = p.MeasureGraph()
	}
	f.Scores = p.HeldOutScores
	return nil
}

// Write writes a model. [Model.CheckText] must accept its ids and classes.
func (f *Model) Write(w io.Writer) error {
	body, err := f.encode()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s%d\n%s\n", modelMagic, modelVersion, f.sum); err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

// encode returns the JSON of the model and sets f.sum.
func (f *Model) encode() ([]byte, error) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	err := e.Encode(f)
	f.sum = modelChecksum(modelVersion, body.Bytes())
	return body.Bytes(), err
}

// modelChecksum returns the second line of a model file, the checksum of body, the text after this line. Since version 3 the
// checksum covers the first line too.
func modelChecksum(version int, body []byte) string {
	sum := uint32(0)
	if version > oldModelVersion {
		sum = crc32.Checksum(fmt.Appendf(nil, "%s%d\n", modelMagic, version), castagnoli)
	}
	return fmt.Sprintf("crc %08x", crc32.Update(sum, castagnoli, body))
}

// memoryFactor is the largest ratio of the memory of a model, while it is decoded, to its file.
const memoryFactor = 8

// LoadModel reads a model that [Prediction.Save] or --save-model has written. The error is an [*input.Error] if the file is
// not a model, wraps [shard.ErrVersion] if it has another version, and is a [*shard.CorruptError] if it is damaged.
func LoadModel(path string) (*Model, error) { return LoadModelWithin(path, 0) }

// LoadModelWithin is [LoadModel] within the given bytes of memory; 0 means no limit. The error wraps [budget.ErrMemory] if the
// model needs more.
func LoadModelWithin(path string, memory int64) (*Model, error) {
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
	f := &Model{Path: path, Memory: memoryFactor * info.Size()}
	if err := budget.Check(memory, f.Memory, "the model"); err != nil {
		return nil, err
	}
	tail, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	sum, body, _ := bytes.Cut(tail, []byte("\n"))
	if want := modelChecksum(version, body); string(sum) != want {
		return nil, ModelDamage(path,
			fmt.Sprintf("%q where the content has %q", sum, want))
	}
	if err := json.Unmarshal(body, f); err != nil {
		return nil, ModelDamage(path, err.Error())
	}
	if problem := f.validate(); problem != "" {
		return nil, ModelDamage(path, problem)
	}
	f.sum = string(sum)
	f.Model.LabelSets = f.Several
	f.Model.Usual = version < unitModelVersion
	if version == oldModelVersion {
		return f, f.readOrigin(body)
	}
	return f, nil
}

// readOrigin sets the origin of a model of version oldModelVersion.
func (f *Model) readOrigin(body []byte) error {
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
		o.Reading = map[string]string{UnweightedEdges: "true"}
	}
	return err
}

// UnweightedEdges names the setting for reading that makes a line of weight 0 an edge, see [ingest.Config].
const UnweightedEdges = "unweighted"

type modelVersionError struct {
	Path    string
	Version int
	Remedy  string
}

// Error implements error.
func (e *modelVersionError) Error() string {
	return fmt.Sprintf("%s: model of format %d; this heatwalk reads %d to %d; %s", e.Path, e.Version, oldModelVersion, modelVersion, e.Remedy)
}

// Unwrap returns [shard.ErrVersion].
func (e *modelVersionError) Unwrap() error { return shard.ErrVersion }

func (f *Model) validate() string {
	if f.Model == nil || len(f.IDs) != len(f.Class)+len(f.Value) || f.Class != nil && f.Value != nil ||
		f.Shares != nil && len(f.Shares) != len(f.Classes) ||
		f.AttributeMeans != nil && len(f.AttributeMeans) != len(f.AttributeNames) ||
		f.AttributeColumns != nil && tablefile.CountKept(f.AttributeColumns) != len(f.AttributeNames) ||
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

// ModelDamage returns the error for a damaged model, a [*shard.CorruptError].
func ModelDamage(path, problem string) error {
	return &shard.CorruptError{Path: path, Offset: -1,
		What: problem + "; restore the file or save the model again"}
}

// Predict predicts the label of every node of a graph; a model of numbers predicts [engine.Prediction].Value. The graph must
// have the labelled nodes of the model, and must be read with the same settings; otherwise the error is an [*input.Error] or a
// [*sides.Difference]. If the model has attributes, the options or the store must have attributes too.
func (f *Model) Predict(ctx context.Context, g *Graph, o *ClassifyOptions) (*Prediction, error) {
	o = cmp.Or(o, new(ClassifyOptions))
	if err := o.refuseUnused(byModel); err != nil {
		return nil, err
	}
	if err := g.checkOpen(); err != nil {
		return nil, err
	}
	e, err := f.Engine()
	if err != nil {
		return nil, err
	}
	rows, err := f.Rows(g.Nodes.Lookup)
	if err != nil {
		return nil, err
	}
	if err := f.Model.Origin.Compare(g.Origin()); err != nil {
		return nil, err
	}
	p := NewProblem(g, rows, f.Class, f.Classes)
	if f.Value != nil {
		p = NewValues(g, rows, f.Value)
	}
	p.Shares = f.Shares
	var attributes *tablefile.Features
	if f.Attributes > 0 {
		config := o.reading(p)
		config.Names = f.AttributeNames
		config.Means = f.AttributeMeans
		config.Kept = f.AttributeColumns
		if attributes, g, err = o.attach(ctx, g, p, config); err != nil {
			return nil, err
		}
	}
	switch {
	case f.Attributes == 0 && o.Attributes != "":
		return nil, refuse("attributes", "the model was learned without attributes; leave them out")
	case f.Attributes > 0 && (attributes == nil || attributes.Table.Cols != f.Attributes):
		return nil, refuse("attributes", "the model was learned with %d columns of attributes; give the same columns", f.Attributes)
	}
	out, err := o.predict(ctx, g, p, attributes, e, &engine.Settings{Progress: g.options.Progress}, new(PredictOptions))
	if err == nil && f.Scores != nil {
		out.HeldOutScores = f.Scores
	}
	return out, err
}

// Engine returns the engine of the model, see [method.Restore].
func (f *Model) Engine() (*engine.Engine, error) {
	switch {
	case f.Value != nil:
		return method.Restore(f.Model, engine.Numbers)
	case f.Several != nil:
		return method.Restore(f.Model, engine.LabelSets)
	}
	return method.Restore(f.Model, engine.Classes)
}

// Rows returns the row of each labelled node. The error is an [*input.Error] if a node is not in the graph.
func (f *Model) Rows(lookup func(id string) (row int, ok bool)) ([]int, error) {
	rows := make([]int, len(f.IDs))
	for i, id := range f.IDs {
		row, ok := lookup(id)
		if !ok {
			return nil, input.Fault(f.Path, 0,
				"give a graph with all labelled nodes, for which {nodes=FILE} adds those without an edge, or learn a model on this one", "the model was learned with a label of node %q, which is not in the graph", id)
		}
		rows[i] = row
	}
	return rows, nil
}
