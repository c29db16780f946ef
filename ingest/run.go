package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// run is the state of one call of Run.
type run struct {
	ctx     context.Context
	c       Config
	workers int
	report  *Report

	files       []FileReport
	seq         int // chunks read, of all files
	listedParts int // of them, those of the list of nodes
	parts       []*part
	useDict     atomic.Bool
	dict        *dict
	market      *market
	nodes       *shard.Nodes
	held        atomic.Int64 // bytes of parts

	mu sync.Mutex // guards parts, the callbacks and the report while files are read
}

// Run reads the inputs, "-" being standard input, and writes them as one store
// in the directory dir. All edges are in memory while it works: 8 bytes for a
// line, 16 with weights, a quarter of the entries at 8 or 16 bytes each, and
// the dictionary of the ids.
//
// The error is a [*ParseError] or [*BadLines] for wrong data, an [*InputError]
// for wrong settings or inputs, a [*MemoryError], one of package shard's, or
// the file system's. Nothing is left behind then, and a store that is there
// stays as it was.
func Run(ctx context.Context, dir string, inputs []string, c *Config) (*Report, error) {
	start := time.Now()
	r := &run{ctx: ctx, report: &Report{IDs: "numeric"}, dict: newDict()}
	if c != nil {
		r.c = *c
	}
	if err := r.c.Validate(); err != nil {
		return nil, err
	}
	if err := distinctInputs(inputs); err != nil {
		return nil, err
	}
	r.workers = sched.Workers(r.c.Workers)
	w, err := r.create(dir, r.c.Directed)
	if err != nil {
		return nil, err
	}
	defer func() { w.Abort() }()
	if r.c.Nodes != "" {
		if err := r.readNodes(); err != nil {
			return nil, err
		}
	}
	for _, path := range inputs {
		if err := r.readEdges(path, len(inputs) > 1); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(r.parts, func(p *part) bool { return len(p.code) > 0 }) {
		return nil, &ParseError{File: r.files[0].Name, Msg: "no edges"}
	}
	r.report.SecondsRead = time.Since(start).Seconds()
	if r.nodes, err = r.rows(); err != nil {
		return nil, err
	}
	directed, err := r.isDirected()
	if err != nil {
		return nil, err
	}
	if directed != r.c.Directed {
		if err := w.Abort(); err != nil {
			return nil, err
		}
		if w, err = r.create(dir, directed); err != nil {
			return nil, err
		}
	}
	r.dict = nil
	if err := r.write(w, directed); err != nil {
		return nil, err
	}
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	r.report.Files = r.files
	r.report.SecondsSync = w.SyncTime().Seconds()
	r.report.Seconds = time.Since(start).Seconds()
	return r.report, nil
}

// create begins the store.
func (r *run) create(dir string, directed bool) (*shard.Writer, error) {
	o := shard.WriteOptions{}
	if r.c.Store != nil {
		o = *r.c.Store
	}
	o.Directed, o.Force = directed, r.c.Force
	if r.c.Codec != "" {
		o.Codec = r.c.Codec
	}
	options := map[string]string{"self_loops": r.c.SelfLoops.String()}
	for name, value := range o.Options {
		options[name] = value
	}
	if r.c.Duplicates != DefaultDuplicates {
		options["duplicates"] = r.c.Duplicates.String()
	}
	o.Options = options
	return shard.Create(dir, &o)
}

// distinctInputs refuses inputs that cannot be meant: none, or one file twice.
func distinctInputs(inputs []string) error {
	if len(inputs) == 0 {
		return &InputError{Msg: "no input", Fix: "name a file, or - for standard input"}
	}
	infos := make([]os.FileInfo, len(inputs))
	for i, path := range inputs {
		for j, before := range inputs[:i] {
			if before == path || path != "-" && before != "-" && os.SameFile(infos[j], statOf(path)) {
				return &InputError{Place: path, Msg: "given twice; weights would double"}
			}
		}
		if path == "-" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return openError(err)
		}
		if info.IsDir() {
			return translate(path, textio.ErrDirectory)
		}
		infos[i] = info
	}
	return nil
}

func statOf(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// openError makes an error of looking at a file read like one of opening it.
func openError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		path.Op = "open"
	}
	return err
}

func (r *run) warn(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Warnings = append(r.report.Warnings, text)
	if r.c.Warn != nil {
		r.c.Warn(text)
	}
}

func (r *run) progress(p Progress) {
	if r.c.Progress != nil {
		r.c.Progress(p)
	}
}

// open opens an input and begins its report.
func (r *run) open(path, format string) (*textio.Reader, error) {
	in, err := textio.Open(r.ctx, path, &textio.Options{Stdin: r.c.Stdin, Warn: r.warn})
	if err != nil {
		return nil, translate(path, err)
	}
	r.files = append(r.files, FileReport{Name: in.Name(), Format: format})
	return in, nil
}

// close ends the report of the input opened last.
func (r *run) close(in *textio.Reader, lines int64) {
	done, _ := in.Progress()
	f := &r.files[len(r.files)-1]
	f.Bytes, f.Lines = done, lines
	r.report.Bytes += done
	r.report.Lines += lines
	in.Close()
}

// readNodes fills the dictionary with the list of nodes.
func (r *run) readNodes() error {
	in, err := r.open(r.c.Nodes, "node list")
	if err != nil {
		return err
	}
	var lines int64
	defer func() { r.close(in, lines) }()
	r.useDict.Store(true)
	head, err := in.Head()
	if err != nil && !errors.Is(err, io.EOF) {
		return translate(r.c.Nodes, err)
	}
	skip := err == nil && r.nodesHeader(in.Name(), head)
	var b batch
	list := &table{path: r.c.Nodes, columns: 1}
	repeated := 0
	flush := func() error {
		before := r.dict.len()
		code := make([]uint32, len(b.tokens))
		if err := r.dict.codes(code, nil, &b, position(r.seq, 0)); err != nil {
			return r.tooMany()
		}
		repeated += len(b.tokens) - (r.dict.len() - before)
		r.seq++
		b.reset()
		return nil
	}
	for row, err := range list.rows(in) {
		if err != nil {
			return err
		}
		lines = row.line
		if skip {
			skip = false
			continue
		}
		b.addCopy(r.dict, 0, row.id())
		if len(b.tokens) == 1<<15 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if repeated > 0 {
		r.warn(fmt.Sprintf("%s: %d ids are listed more than once", in.Name(), repeated))
	}
	r.listedParts = r.seq
	return nil
}

// nodesHeader reports whether the list of nodes that begins with this chunk
// has a header: a first line that is no integer while the next ones are.
func (r *run) nodesHeader(name string, chunk *textio.Chunk) bool {
	if r.c.Header != AutoHeader {
		return r.c.Header == HasHeader
	}
	list := &table{path: r.c.Nodes, columns: 1, name: name}
	first := int64(0)
	lines, number := 0, chunk.First
	for rest := chunk.Data; len(rest) > 0 && lines < sample; number++ {
		end := bytes.IndexByte(rest, '\n')
		line := rest[:end]
		rest = rest[end+1:]
		if isComment(line) {
			continue
		}
		row, bad := list.split(textio.Line{Number: number, Text: line})
		if bad != nil || canonical(row.id()) == (first == 0) {
			return false
		}
		if first == 0 {
			first = number
		}
		lines++
	}
	if lines > 1 {
		r.warn(fmt.Sprintf("%s:%d: taken as a header; --header=no if it is a node", name, first))
	}
	return lines > 1
}

// readEdges reads one input into parts.
func (r *run) readEdges(path string, several bool) error {
	in, err := r.open(path, "edge list")
	if err != nil {
		return err
	}
	var sum tally
	defer func() {
		r.close(in, sum.lines)
		r.report.Comments += sum.comments
	}()
	lay, err := r.plan(in, several, &sum)
	if err != nil || lay == nil {
		return err
	}
	file, from := len(r.files)-1, len(r.parts)
	base, lines := r.seq, r.report.Lines+sum.lines
	var stop atomic.Bool // enough bad lines
	var bad atomic.Int64
	parsers := make([]*parser, r.workers)
	err = in.Chunks(r.workers, func(worker int, chunk *textio.Chunk) error {
		if stop.Load() {
			return errEnough
		}
		if parsers[worker] == nil {
			parsers[worker] = &parser{run: r, name: in.Name(), file: file, lay: lay}
		}
		p, err := parsers[worker].parse(chunk, base+chunk.Index)
		if err != nil {
			return err
		}
		if !r.c.SkipBadLines && bad.Add(p.bad.count) >= maxBad {
			stop.Store(true)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.parts = append(r.parts, p)
		sum.add(p.stats)
		done, total := in.Progress()
		r.progress(Progress{Phase: "reading", File: in.Name(), Done: done, Total: total, Lines: lines + p.stats.lines})
		lines += p.stats.lines
		return r.hold(p)
	})
	mine := r.parts[from:]
	slices.SortFunc(mine, func(a, b *part) int { return a.seq - b.seq })
	if len(mine) > 0 {
		r.seq = mine[len(mine)-1].seq + 1
	}
	if !r.c.SkipBadLines {
		faults := make([]faults, len(mine))
		for i, p := range mine {
			faults[i] = p.bad
		}
		if bad := join(faults); bad != nil && r.ctx.Err() == nil {
			return bad
		}
	}
	if err != nil {
		return translate(path, err)
	}
	var read int64
	for _, p := range mine {
		r.report.BadLines += p.bad.count
		read += int64(len(p.code)/2) + p.bad.count
	}
	if lay.market != nil {
		return lay.market.complete(read)
	}
	return nil
}

// errEnough ends the reading of a file with very many bad lines.
var errEnough = errors.New("ingest: too many bad lines")

// hold accounts the memory of a part.
func (r *run) hold(p *part) error {
	held := r.held.Add(p.bytes())
	if r.useDict.Load() {
		held += r.dict.bytes()
	}
	r.report.PeakBytes = max(r.report.PeakBytes, held)
	if r.c.Memory > 0 && held > r.c.Memory {
		return &MemoryError{Need: held, Limit: r.c.Memory}
	}
	return nil
}

// plan decides how an input is built; nil means that there is nothing in it.
func (r *run) plan(in *textio.Reader, several bool, sum *tally) (*layout, error) {
	head, err := in.Head()
	if errors.Is(err, io.EOF) {
		if isNamed(in.Name(), ".mtx") {
			return nil, &ParseError{File: in.Name(), Msg: "empty file"}
		}
		return nil, nil
	}
	if err != nil {
		return nil, translate(in.Name(), err)
	}
	if isMarket(in.Name(), head) {
		r.files[len(r.files)-1].Format = "Matrix Market"
		if several || r.c.Nodes != "" || r.c.Fields != nil {
			return nil, &InputError{Place: in.Name(), Msg: "a Matrix Market file numbers its own nodes", Fix: "give it alone, without --nodes and --fields"}
		}
		lay, m, err := planMarket(in.Name(), in, sum)
		if errors.Is(err, io.EOF) {
			return nil, &ParseError{File: in.Name(), Msg: "ends before its sizes", Fix: "fetch the file again"}
		}
		if err != nil {
			return nil, translate(in.Name(), err)
		}
		lay.market, r.market = m, m
		return lay, nil
	}
	for {
		lay, err := r.c.plan(in.Name(), head, r.warn)
		if lay != nil || err != nil {
			return lay, err
		}
		sum.lines += int64(head.Lines)
		sum.comments += int64(head.Lines)
		in.Drop()
		if head, err = in.Head(); errors.Is(err, io.EOF) {
			return nil, nil
		} else if err != nil {
			return nil, translate(in.Name(), err)
		}
	}
}

// rows turns the codes of all parts into rows.
func (r *run) rows() (*shard.Nodes, error) {
	if r.market == nil {
		return r.number()
	}
	ids := make([]uint64, r.market.rows)
	for i := range ids {
		ids[i] = uint64(i) + 1
	}
	return shard.NumericNodes(ids), nil
}

// isDirected tells whether the store will be: if the settings ask for it, or
// the input is a matrix that is not symmetric.
func (r *run) isDirected() (bool, error) {
	switch {
	case r.c.Directed || r.market == nil || r.market.symmetry == "symmetric":
		return r.c.Directed, nil
	case r.market.symmetry == "skew-symmetric":
		return true, nil
	}
	s := r.sorter(undirected)
	s.merge.symmetric = true
	if _, err := s.plan(r.parts); err != nil {
		return false, err
	}
	err := s.each(func(*sorted) error { return nil })
	if errors.Is(err, errAsymmetric) {
		return true, nil
	}
	return false, r.explain(err)
}

// sorter returns the sorter for a view of the edges.
func (r *run) sorter(v view) *sorter {
	values := r.c.Duplicates == SumDuplicates
	for _, p := range r.parts {
		values = values || p.weight != nil
	}
	s := &sorter{
		ctx: r.ctx, workers: r.workers, rows: r.nodes.Len(), view: v, values: values,
		keepLoops: r.c.SelfLoops == KeepLoops,
		merge:     merger{policy: r.c.Duplicates, values: values, perDirection: r.market != nil, directed: v != undirected},
	}
	if r.c.Memory > 0 {
		s.limit = max(1, r.c.Memory-r.held.Load())
	}
	return s
}

// write sorts the edges and writes all rows.
func (r *run) write(w *shard.Writer, directed bool) error {
	w.SetNodes(r.nodes)
	sources := make([]shard.Source, len(r.files))
	for i, f := range r.files {
		sources[i] = shard.Source{Name: f.Name, Bytes: f.Bytes, Lines: f.Lines}
	}
	w.SetSources(sources)
	views := []view{undirected}
	switch {
	case directed && r.market != nil && r.market.symmetry == "symmetric":
		views = []view{mirrored, mirrored}
	case directed:
		views = []view{outgoing, incoming}
	}
	rows := r.nodes.Len()
	occupied := make([]uint64, (rows+63)/64)
	var counts mergeCount
	for direction, v := range views {
		if direction == 1 {
			if err := w.BeginIn(); err != nil {
				return err
			}
		}
		s := r.sorter(v)
		lines, err := s.plan(r.parts)
		if err != nil {
			return err
		}
		first := direction == 0
		if first {
			r.report.SelfLoops, r.report.ZeroWeights, r.report.UnknownIDs = lines.loops, lines.zeros, lines.unknown
		}
		err = s.each(func(b *sorted) error {
			for i := range len(b.ptr) - 1 {
				lo, hi := b.ptr[i], b.ptr[i+1]
				var val []float64
				if b.val != nil {
					val = b.val[lo:hi]
				}
				for _, x := range val {
					r.report.Weighted = r.report.Weighted || x != 1
				}
				if err := w.Append(b.col[lo:hi], val); err != nil {
					return err
				}
				if hi > lo {
					occupied[(b.lo+i)/64] |= 1 << ((b.lo + i) % 64)
				}
			}
			if first {
				r.report.Entries += int64(len(b.col))
				counts.add(b.mergeCount)
			}
			r.progress(Progress{Phase: "writing", Done: int64(direction*rows + b.lo + len(b.ptr) - 1), Total: int64(len(views) * rows), Lines: r.report.Lines})
			return nil
		})
		if err != nil {
			return r.explain(err)
		}
	}
	r.report.Nodes, r.report.Directed = int64(rows), directed
	r.report.Duplicates, r.report.Reciprocal = counts.duplicates, counts.reciprocal
	r.report.Edges = r.report.Entries
	if !directed {
		r.report.Edges = (r.report.Entries + counts.loops) / 2
	}
	r.report.Isolated = int64(rows)
	for _, word := range occupied {
		r.report.Isolated -= int64(bits.OnesCount64(word))
	}
	return nil
}

func (n *mergeCount) add(m mergeCount) {
	n.duplicates += m.duplicates
	n.reciprocal += m.reciprocal
	n.loops += m.loops
}

// explain finds the lines behind an entry whose lines do not agree.
func (r *run) explain(err error) error {
	var e *mergeError
	if !errors.As(err, &e) {
		return err
	}
	var lines []edgeLine
	for _, p := range r.parts {
		for i := 0; i < len(p.code); i += 2 {
			u, v := p.code[i], p.code[i+1]
			if u == e.row && v == e.col || u == e.col && v == e.row && (e.kind == differing || !r.c.Directed) {
				w := 1.0
				if p.weight != nil {
					w = p.weight[i/2]
				}
				if w != 0 {
					lines = append(lines, edgeLine{r.files[p.file].Name, p.line(i / 2), w, u, v})
				}
			}
		}
	}
	return r.disagree(e, lines)
}

// edgeLine is one of the lines behind an entry.
type edgeLine struct {
	file   string
	line   int64
	weight float64
	u, v   uint32
}

// disagree words the error for lines, in the order of the input, of one edge:
// it stands at the later of two lines and names the earlier.
func (r *run) disagree(e *mergeError, lines []edgeLine) error {
	const choose = "choose --duplicates=sum, max, min or first"
	last := lines[len(lines)-1]
	edge := fmt.Sprintf("%s–%s", r.id(last.u), r.id(last.v))
	if e.kind == infinite {
		return &ParseError{File: last.file, Line: last.line, Msg: fmt.Sprintf("the weights of %s add up to infinity", edge), Fix: "choose --duplicates=max, min or first"}
	}
	for i, l := range lines[1:] {
		for _, before := range lines[:i+1] {
			same := before.u == l.u
			if same != (e.kind == repeated) {
				continue
			}
			place := fmt.Sprintf("line %d", before.line)
			if before.file != l.file {
				place += " of " + before.file
			}
			edge := fmt.Sprintf("%s–%s", r.id(l.u), r.id(l.v))
			if e.kind == repeated {
				return &ParseError{File: l.file, Line: l.line, Msg: fmt.Sprintf("%s is on %s already", edge, place), Fix: choose}
			}
			return &ParseError{File: l.file, Line: l.line, Msg: fmt.Sprintf("%s has weight %g here and %g on %s", edge, r.sum(lines, l), r.sum(lines, before), place), Fix: choose}
		}
	}
	return &ParseError{File: last.file, Line: last.line, Msg: edge + " is given in two ways", Fix: choose}
}

// sum returns what the lines of like's direction add up to.
func (r *run) sum(lines []edgeLine, like edgeLine) float64 {
	var sum float64
	for _, l := range lines {
		if l.u == like.u {
			sum += l.weight
		}
	}
	return sum
}

// id returns the id of a row for messages.
func (r *run) id(row uint32) string {
	id := []byte(r.nodes.ID(int(row)))
	return strings.ToValidUTF8(string(id[:min(len(id), 64)]), "\uFFFD")
}
