package heatwalk

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

const (
	columnsMagic  = "heatwalk columns 1\n"
	columnBytes   = 4 // bytes of a value
	checksumBytes = 4
)

// columnsHeader is the second line of a file of columns.
type columnsHeader struct {
	Model   string               `json:"model"` // checksum of the body of the model
	Rows    int                  `json:"rows"`
	Columns int                  `json:"columns"` // the last column is 1 if a label reaches the node, else 0
	IDBytes int64                `json:"id_bytes"`
	Kept    json.RawMessage      `json:"kept"`
	Omitted []problem.MixedModel `json:"omitted,omitempty"`
}

// SaveColumns writes the columns of the prediction, from which [Model.OpenColumns] predicts new nodes with the model that
// [Prediction.Save] writes. The error wraps [engine.ErrNoColumns] if the prediction was made without ClassifyOptions.Columns.
func (p *Prediction) SaveColumns(path string) error {
	f := NewModel(p.g, p.given, p.attributes)
	err := p.KeepTo(f)
	if err == nil {
		_, err = f.encode()
	}
	if err != nil {
		return err
	}
	return writeFile(path, func(w io.Writer) error { return p.WriteColumns(w, f) })
}

// WriteColumns writes the columns of the prediction for the model f, which must be written before.
func (p *Prediction) WriteColumns(w io.Writer, f *Model) error {
	if p.Columns == nil {
		return fmt.Errorf("%s: %w", p.Method, engine.ErrNoColumns)
	}
	values := p.Columns.Values
	h := &columnsHeader{Model: f.sum, Rows: values.Rows, Columns: values.Cols + 1, Omitted: p.Columns.Omitted}
	var err error
	if h.Kept, err = json.Marshal(p.Columns.Kept); err != nil {
		return err
	}
	var id []byte
	for row := range values.Rows {
		id = p.g.Nodes.AppendID(id[:0], row)
		h.IDBytes += int64(len(binary.AppendUvarint(nil, uint64(len(id)))) + len(id))
	}
	header, err := json.Marshal(h)
	if err != nil {
		return err
	}
	sum := crc32.New(castagnoli)
	b := bufio.NewWriter(io.MultiWriter(w, sum))
	fmt.Fprintf(b, "%s%s\n", columnsMagic, header) // b keeps the first error
	for row := range values.Rows {
		id = p.g.Nodes.AppendID(id[:0], row)
		b.Write(binary.AppendUvarint(b.AvailableBuffer(), uint64(len(id))))
		b.Write(id)
	}
	for row := range values.Rows {
		for _, x := range values.Row(row) {
			b.Write(binary.LittleEndian.AppendUint32(b.AvailableBuffer(), math.Float32bits(x)))
		}
		reached := float32(indicator(p.Reached.Contains(uint32(row))))
		b.Write(binary.LittleEndian.AppendUint32(b.AvailableBuffer(), math.Float32bits(reached)))
	}
	if err := b.Flush(); err != nil {
		return err
	}
	_, err = w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

// ColumnBytes returns the size of the file that [Prediction.WriteColumns] writes, at most, for a prediction with the given number of
// columns, without its ids.
func ColumnBytes(nodes, columns int) int64 { return int64(nodes) * columnBytes * int64(columns+1) }

// Columns predicts nodes that come after a run, from columns of their neighbours that [Prediction.SaveColumns] wrote. The columns stay
// on disk. Columns may be used concurrently.
type Columns struct {
	// Omitted are the models of auto that do not predict new nodes. The others share their weight.
	Omitted []problem.MixedModel

	Classes []string // names of the classes, in the order of scores

	model  *Model
	header columnsHeader
	nodes  *shard.Nodes
	file   *os.File
	first  int64 // offset of the values
	pool   sync.Pool
}

// OpenColumns opens a file of columns of the model, and checks its sum. The error is a [*shard.CorruptError] if the file is damaged, and
// an [*input.Error] if it has other content or belongs to another model.
func (f *Model) OpenColumns(path string) (_ *Columns, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	c := &Columns{Classes: f.Classes, model: f, file: file}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	sum := crc32.New(castagnoli)
	r := bufio.NewReaderSize(io.TeeReader(io.LimitReader(file, info.Size()-checksumBytes), sum), 1<<20)
	magic, _ := r.Peek(len(columnsMagic))
	if string(magic) != columnsMagic {
		return nil, input.Fault(path, 1, "give a file that --save-columns of classify wrote", "these are no columns")
	}
	_, _ = r.Discard(len(magic))
	header, _ := r.ReadBytes('\n') // a file without an end of this line is damaged
	h := &c.header
	damaged := func(what string) error {
		return &shard.CorruptError{Path: path, Offset: -1, What: what + "; restore the file or save the columns again"}
	}
	if err := json.Unmarshal(header, h); err != nil {
		return nil, damaged(err.Error())
	}
	c.first = int64(len(magic)+len(header)) + h.IDBytes
	stride := int64(columnBytes) * int64(h.Columns)
	if h.Rows < 0 || h.Columns < 1 || h.IDBytes < int64(h.Rows) || c.first < 0 ||
		c.first > info.Size() || (info.Size()-checksumBytes-c.first)/stride != int64(h.Rows) || (info.Size()-checksumBytes-c.first)%stride != 0 {
		return nil, damaged("the size does not fit")
	}
	ids := make([]byte, h.IDBytes)
	if _, err := io.ReadFull(r, ids); err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	var tail [checksumBytes]byte
	if _, err := file.ReadAt(tail[:], info.Size()-checksumBytes); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(tail[:]) != sum.Sum32() {
		return nil, damaged("the content has another checksum")
	}
	if h.Model != f.sum {
		return nil, input.Fault(path, 0, "save both in one run", "the columns belong to another model than %s", f.Path)
	}
	if c.nodes, err = shard.StringNodes(func(yield func([]byte) bool) {
		for rest := ids; len(rest) > 0; {
			length, size := binary.Uvarint(rest)
			if size <= 0 || length > uint64(len(rest)-size) || !yield(rest[size:][:length]) {
				return
			}
			rest = rest[size+int(length):]
		}
	}); err != nil || c.nodes.Len() != h.Rows {
		return nil, damaged("the ids do not fit")
	}
	e, err := f.Engine()
	if err != nil {
		return nil, err
	}
	if e.Extension == nil {
		return nil, fmt.Errorf("%s: %w", e.Name, engine.ErrNoColumns)
	}
	begin, err := e.Extension.Restore(h.Kept, len(f.Classes), h.Columns-1)
	if err != nil {
		return nil, damaged(err.Error())
	}
	c.Omitted = h.Omitted
	balanced := f.Model.Auto != nil && f.Model.Values.Has(classify.WeightsParam.Name) && f.Model.Values.Word(classify.WeightsParam.Name) == "balanced"
	adapt := (&engine.Problem{Class: f.Class, Names: f.Classes, Shares: f.Shares}).Reweigher(balanced)
	c.pool.New = func() any {
		return &newNodePredictor{Columns: c, step: begin(), adapt: adapt, row: make([]byte, stride), sums: make([]float64, h.Columns), position: map[string]int{}}
	}
	return c, nil
}

// Len returns the number of nodes with columns.
func (c *Columns) Len() int { return c.nodes.Len() }

// Close closes the file. Predictions must have ended.
func (c *Columns) Close() error { return c.file.Close() }

// NewNode is a node that is not in the graph of a model.
type NewNode struct {
	ID    string    `json:"id"` // may be "" if no other new node has an edge to it
	Edges []NewEdge `json:"edges"`

	// Attributes has a value for each of Model.Attributes columns, as [tablefile.Features] has them; nil: the node has none.
	Attributes []float32 `json:"attributes"`

	Explain bool `json:"explain"` // fill in NewPrediction.Reasons
}

// NewEdge is an edge to a node of the graph or to another new node, which must not list it again. In a directed graph it is an arc
// that leaves the new node.
type NewEdge struct {
	ID     string  `json:"id"`
	Weight float64 `json:"weight"` // weight as in the graph of the model; 0 means 1
	Kind   string  `json:"kind"`   // kind as in the graph; "": edges have no kinds
}

// NewPrediction is the prediction of a new node.
type NewPrediction struct {
	Label   string    `json:"label"`   // "" if no label reaches the node
	Scores  []float64 `json:"scores"`  // probability of each of Model.Classes
	Links   int       `json:"links"`   // edges to nodes of the graph, or to new nodes that are nearer to it
	Steps   int       `json:"steps"`   // steps to the graph; 0: the node has no link
	Reached bool      `json:"reached"` // a label, or attributes, reach the node

	// Reasons are the shares of the links in the label, see [NewNode].Explain.
	Reasons []NewReason `json:"reasons,omitempty"`
}

// NewReason is a link that carried the label of a new node.
type NewReason struct {
	ID string `json:"id"`

	// Share is |w|·q/Σ|w|·q over the links, for their weights w and the probabilities q that the label would have with one of them alone.
	// For label propagation it is the share of the link in the score.
	Share float64 `json:"share"`
}

// Predict predicts new nodes. A new node changes the prediction of no other node, except of new nodes that are further away from the
// graph. Nodes of unknown edges are an [*IDError].
func (c *Columns) Predict(ctx context.Context, nodes []NewNode) ([]NewPrediction, error) {
	p := c.pool.Get().(*newNodePredictor)
	defer c.pool.Put(p)
	position := p.position
	clear(position)
	p.links = slices.Grow(p.links[:0], len(nodes))[:len(nodes)]
	links := p.links
	for i := range links {
		links[i] = links[i][:0]
	}
	for i, node := range nodes {
		if node.ID == "" {
			continue
		}
		if _, isListed := position[node.ID]; isListed {
			return nil, refuse("new", "%q is listed twice; give each node once", node.ID)
		}
		if _, isKnown := c.nodes.Lookup(node.ID); isKnown {
			return nil, refuse("new", "%q is a node of the graph, which the run has predicted; leave it out", node.ID)
		}
		position[node.ID] = i
	}
	for i, node := range nodes {
		for _, e := range node.Edges {
			if math.IsNaN(e.Weight-e.Weight) || e.Weight < 0 && !c.model.Model.Origin.Signed {
				return nil, refuse("new", "weight %v of an edge of %q; give a finite weight, above 0 if the graph has no other", e.Weight, node.ID)
			}
			l := newLink{weight: c.model.Model.Weight(e.Kind, cmp.Or(e.Weight, 1)), other: -1}
			row, isKnown := c.nodes.Lookup(e.ID)
			if l.row = row; !isKnown {
				if l.other, isKnown = position[e.ID]; !isKnown {
					return nil, &IDError{e.ID}
				}
				if !c.model.Model.Origin.Directed {
					links[l.other] = append(links[l.other], newLink{other: i, weight: l.weight})
				}
			}
			links[i] = append(links[i], l)
		}
		if attributes := len(node.Attributes); attributes > 0 && attributes != c.model.Attributes {
			return nil, refuse("new", "%d attributes of %q; give a value for each of the %d columns of the model", attributes, node.ID, c.model.Attributes)
		}
	}
	return p.predictAll(ctx, links, func(i int) *NewNode { return &nodes[i] })
}

// newLink is a link of a new node to a row of the columns, or to another new node.
type newLink struct {
	row, other int // other is −1 for a row
	weight     float64
}

// predictAll predicts new nodes in the order of their steps to the graph. It ignores the edges of the given nodes.
func (p *newNodePredictor) predictAll(ctx context.Context, links [][]newLink, given func(i int) *NewNode) ([]NewPrediction, error) {
	out := make([]NewPrediction, len(links))
	p.columns = slices.Grow(p.columns[:0], len(links))[:len(links)]
	columns := p.columns
	clear(columns)
	for _, list := range links {
		for _, l := range list {
			if l.other >= 0 && columns[l.other] == nil {
				columns[l.other] = make([]float64, len(p.sums))
			}
		}
	}
	left := p.left[:0]
	for i := range links {
		left = append(left, i)
	}
	p.left = left
	for step := 1; len(left) > 0; step++ {
		later := left[:0]
		for _, i := range left {
			links := links[i]
			isNear := false
			for _, l := range links {
				isNear = isNear || l.other < 0 || out[l.other].Steps > 0 && out[l.other].Steps < step
			}
			if !isNear {
				later = append(later, i)
				continue
			}
			if err := sched.Cause(ctx); err != nil {
				return nil, err
			}
			out[i].Steps = step
			if err := p.predict(&out[i], links, out, columns, given(i).Attributes); err != nil {
				return nil, err
			}
			if columns[i] != nil {
				columns[i][copy(columns[i], p.node.Columns)] = indicator(p.node.Reached)
			}
			if given(i).Explain && out[i].Reached {
				if err := p.explain(&out[i], links, out, columns, given); err != nil {
					return nil, err
				}
			}
		}
		if len(later) == len(left) {
			for _, i := range later {
				if err := p.predict(&out[i], nil, nil, nil, given(i).Attributes); err != nil {
					return nil, err
				}
			}
			break
		}
		left = later
	}
	return out, nil
}

// newNodePredictor predicts one node at a time.
type newNodePredictor struct {
	*Columns
	step  engine.Step
	adapt func([]float64) // nil: the shares of classes are not known
	row   []byte
	sums  []float64
	node  engine.NewNode

	position map[string]int // of the ids of new nodes
	links    [][]newLink
	columns  [][]float64 // of new nodes that are neighbours of new nodes; nil: none
	left     []int
}

// predict predicts a node from its links to rows, and to new nodes with fewer steps in all, whose columns are in columns.
func (p *newNodePredictor) predict(out *NewPrediction, links []newLink, all []NewPrediction, columns [][]float64, attributes []float32) error {
	clear(p.sums)
	total := 0.0
	for _, l := range links {
		switch {
		case l.other < 0:
			if _, err := p.file.ReadAt(p.row, p.first+int64(l.row)*int64(len(p.row))); err != nil {
				return err
			}
			for j := range p.sums {
				p.sums[j] += float64(l.weight * float64(math.Float32frombits(binary.LittleEndian.Uint32(p.row[columnBytes*j:]))))
			}
		case all[l.other].Steps > 0 && all[l.other].Steps < out.Steps:
			for j, x := range columns[l.other] {
				p.sums[j] += float64(l.weight * x)
			}
		default:
			continue
		}
		out.Links++
		total += math.Abs(l.weight)
	}
	x := &p.node
	last := len(p.sums) - 1
	for j := range p.sums {
		p.sums[j] /= cmp.Or(total, 1)
	}
	x.Mean = p.sums[:last]
	x.Degree = total
	x.Reached = p.sums[last] != 0
	x.Attributes = attributes
	if x.Columns == nil {
		x.Columns = make([]float64, last)
	}
	x.Scores = make([]float64, len(p.model.Classes))
	p.step(x)
	if out.Reached = x.Reached; x.Reached && p.adapt != nil {
		p.adapt(x.Scores)
	} else if p.model.Shares != nil {
		copy(x.Scores, p.model.Shares)
	}
	if out.Scores = x.Scores; out.Reached {
		out.Label = p.model.Classes[classify.ArgMax(out.Scores)]
	}
	return nil
}

// explain adds the reasons of a prediction, by the predictions of the node with each of its links alone.
func (p *newNodePredictor) explain(out *NewPrediction, links []newLink, all []NewPrediction, columns [][]float64, given func(i int) *NewNode) error {
	class := classify.ArgMax(out.Scores)
	attributes := slices.Clone(p.node.Attributes) // given may return the next in their place
	total := 0.0
	for j, l := range links {
		alone := NewPrediction{Steps: out.Steps}
		if err := p.predict(&alone, links[j:j+1], all, columns, attributes); err != nil {
			return err
		}
		if alone.Links == 0 { // to a node that is not nearer to the graph
			continue
		}
		r := NewReason{Share: math.Abs(l.weight) * alone.Scores[class] * indicator(alone.Reached)}
		if l.other < 0 {
			r.ID = p.nodes.ID(l.row)
		} else {
			r.ID = given(l.other).ID
		}
		total += r.Share
		out.Reasons = append(out.Reasons, r)
	}
	for j := range out.Reasons {
		out.Reasons[j].Share /= cmp.Or(total, 1)
	}
	return nil
}

// indicator returns 1 if x is true, and otherwise 0.
func indicator(x bool) float64 {
	if x {
		return 1
	}
	return 0
}

// Engine returns an engine that predicts those nodes of a graph that are not in the graph of the columns. The graph has the edges of new
// nodes alone. Rows returns the rows of these nodes. Weights of edges become those that the model has learned. report, if not nil, is
// called with the predictions, in the order of Rows; they have reasons if explain is set.
func (c *Columns) Engine(explain bool, report func([]NewPrediction)) (*engine.Engine, error) {
	e, err := c.model.Engine()
	if err != nil {
		return nil, err
	}
	return &engine.Engine{Name: e.Name, Takes: e.Takes, Specs: e.Specs, Model: e.Model,
		Fit: func(ctx context.Context, p *engine.Problem, _ *engine.Parameters, _ *engine.Settings) (*engine.Prediction, error) {
			return c.fit(ctx, p, explain, report)
		}}, nil
}

// Rows returns the rows of a graph whose nodes are not in the graph of the columns, in the order of ids.
func (c *Columns) Rows(nodes *shard.Nodes) (rows []int) {
	rows = []int{}
	for row := range nodes.Rows() {
		if _, isKnown := c.nodes.Lookup(nodes.ID(row)); !isKnown {
			rows = append(rows, row)
		}
	}
	return rows
}

func (c *Columns) fit(ctx context.Context, p *engine.Problem, explain bool, report func([]NewPrediction)) (*engine.Prediction, error) {
	if p.Signed && !c.model.Model.Origin.Signed {
		return nil, &sides.Difference{Setting: "weights", Result: "positive", Graph: "signed"}
	}
	rows := c.Rows(p.Graph.Nodes)
	place := make([]int, len(p.Degrees)) // position of each row in rows, or −1 − row of the columns
	for i, row := range rows {
		place[row] = i
	}
	for row := range place {
		if known, isKnown := c.nodes.Lookup(p.Graph.Nodes.ID(row)); isKnown {
			place[row] = -1 - known
		}
	}
	links := make([][]newLink, len(rows))
	err := sparse.EachRow(ctx, p.A, 1, func(_, row int, col []uint32, weight []float64) error {
		for j := range col {
			l := newLink{other: place[col[j]], weight: 1}
			if weight != nil {
				l.weight = weight[j]
			}
			if l.other < 0 {
				l.row = -1 - l.other
				l.other = -1
			}
			if i := place[row]; i >= 0 {
				links[i] = append(links[i], l)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	attributes := func(int) []float32 { return nil }
	if p.Attributes != nil {
		reader := p.Attributes.Reader()
		values := make([]float32, p.Attributes.Cols)
		attributes = func(i int) []float32 {
			columns, x := reader.Row(rows[i])
			if x == nil || columns == nil {
				return x
			}
			clear(values)
			for j, column := range columns {
				values[column] = x[j]
			}
			return values
		}
	}
	predictor := c.pool.Get().(*newNodePredictor)
	defer c.pool.Put(predictor)
	list, err := predictor.predictAll(ctx, links, func(i int) *NewNode {
		return &NewNode{ID: p.Graph.Nodes.ID(rows[i]), Attributes: attributes(i), Explain: explain}
	})
	if err != nil {
		return nil, err
	}
	if report != nil {
		report(list)
	}
	out := &engine.Prediction{Class: make([]int, len(place)), Scores: sparse.NewBlock[float32](len(place), len(p.Names)), Reached: roaring.New()}
	for i, q := range list {
		simd.ConvertTo(out.Scores.Row(rows[i]), q.Scores)
		if out.Class[rows[i]] = classify.ArgMax(q.Scores); q.Reached {
			out.Reached.Add(uint32(rows[i]))
		} else {
			out.Class[rows[i]] = choose.Majority(c.model.Class)
		}
	}
	return out, nil
}
