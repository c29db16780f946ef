package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/market"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
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
	listedParts int // parts with the list of nodes
	listedIDs   int // ids in the list of nodes
	parts       []*part
	listed      []*part    // ids of the list of nodes, while they are numbers
	ids         ids.Set    // the ids, while all of them are numbers
	late        *ids.Ranks // from the codes of the parts, which are ids, to rows; nil: the codes are rows once numbered
	placed      *placed    // rows by the order of the settings; nil: there is none, and rows are those of nodes
	useDict     atomic.Bool
	dict        *ids.Dict
	matrix      *matrix             // nil: nodes are found by their ids
	stated      graphfile.Direction // what the files say
	statedBy    string
	nodes       *shard.Nodes

	dir        string
	fs         durable.FS
	inputBytes int64            // of all inputs, as stored; 0 if that is not known
	held       int64            // bytes of parts
	lines      int              // lines in all parts
	top        uint32           // the largest code of all parts
	weighted   bool             // some parts have weights
	inputs     []*textio.Reader // inputs that are open
	spilling   bool             // parts go to disk
	spill      *sort.Spill
	spillOnce  sync.Once
	spillErr   error
	loaders    []sort.Lines          // of each worker
	slabs      []lines.Slabs         // of each worker
	maps       []func(code []uint32) // from the codes of parts on disk to rows

	mu sync.Mutex // guards parts, held, the callbacks and the report while files are read
}

// Run reads the inputs, "-" being standard input, and writes them as one store
// in the directory dir. While it works all edges are in memory: 8 bytes for a
// line, 16 with weights, 4 or 8 for each entry that is sorted and 8 for its
// weight, and the dictionary of the ids. If Memory leaves less, most lines go to
// a temporary file, with 2 to 8 bytes each and what their weights take, and so do
// the entries beyond it, 4 to 8 bytes each.
//
// The error is a [*nodefile.ParseError] for wrong data, or the first ten of them joined,
// one that wraps [nodefile.ErrInput] for wrong settings or inputs, a [*LimitError], one of
// package shard's, or the file system's. Nothing is left behind then, and a store that is there
// stays as it was.
func Run(ctx context.Context, dir string, inputs []string, c *Config) (report *Report, err error) {
	start := time.Now()
	r := &run{ctx: ctx, dir: dir, fs: durable.OS, report: &Report{IDs: "numeric"}, dict: ids.NewDict()}
	if c != nil {
		r.c = *c
	}
	if err := r.c.validate(); err != nil {
		return nil, err
	}
	if inputs, err = r.pair(inputs); err != nil {
		return nil, err
	}
	if err := r.c.distinctInputs(inputs); err != nil {
		return nil, err
	}
	r.inputBytes = bytesOf(inputs)
	durable.RemoveUnused(r.fs, filepath.Join(r.tempDir(), sort.SpillName))
	isInteger := func(word string) bool { return table.IsInteger([]byte(word)) }
	r.useDict.Store(slices.ContainsFunc(r.c.Missing, isInteger)) // where words are looked up
	r.workers = sched.Workers(r.c.Workers)
	r.loaders, r.slabs = make([]sort.Lines, r.workers), r.newSlabs()
	w, err := r.create(dir, r.c.Directed)
	if err != nil {
		return nil, err
	}
	defer func() { w.Abort() }()
	defer func() {
		if left := r.endSpill(); left != nil && err == nil {
			r.warn(fmt.Errorf("the temporary file could not be removed: %v", left))
		}
	}()
	if r.c.Nodes != "" {
		if err := r.readNodes(); err != nil {
			return nil, err
		}
	}
	if err := r.readInputs(inputs); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(r.parts, func(p *part) bool { return p.edges > 0 }) {
		f := &r.files[len(r.files)-max(len(inputs), 1)]
		fix := "check that this is the right file"
		if f.hasHeader {
			fix += "; if the first line is an edge, pass {header=no}"
		}
		return nil, &nodefile.ParseError{File: f.Name, Msg: "no edges", Fix: fix}
	}
	r.report.SecondsRead = time.Since(start).Seconds()
	directed, err := r.numbered()
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
	if err := r.reorder(); err != nil {
		return nil, err
	}
	if err := r.write(w, directed); err != nil {
		return nil, err
	}
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	r.report.Files, r.report.Store = r.files, &w.Manifest
	r.report.SecondsSync = w.SyncTime.Seconds()
	r.report.Seconds = time.Since(start).Seconds()
	return r.report, nil
}

// numbered gives rows to the nodes and tells whether the store will be directed.
func (r *run) numbered() (directed bool, err error) {
	if r.spilling {
		pages.Release() // what went to disk
	}
	large := r.useDict.Load() && r.dict.Bytes() > smallDict
	if r.nodes, err = r.rows(); err != nil {
		return false, err
	}
	r.warnUnlisted(r.nodes.Len() - r.listedIDs)
	r.dict = nil
	if large {
		pages.Release() // the dictionary
	}
	return r.isDirected()
}

// create begins the store.
func (r *run) create(dir string, directed bool) (*shard.Writer, error) {
	o := shard.WriteOptions{}
	if r.c.Store != nil {
		o = *r.c.Store
	}
	o.Directed, o.Force, o.Workers = directed, r.c.Force, r.workers
	if r.c.Codec != "" {
		o.Codec = r.c.Codec
	}
	options := map[string]string{"self_loops": "drop"}
	if r.c.KeepLoops {
		options["self_loops"] = "keep"
	}
	for name, value := range o.Options {
		options[name] = value
	}
	if r.c.Duplicates != DefaultDuplicates {
		options["duplicates"] = duplicateNames[r.c.Duplicates]
	}
	for _, s := range r.c.Sources {
		if s.Option != "" {
			options[s.Option] = "yes"
		}
	}
	o.Options = options
	w, err := shard.Create(dir, &o)
	if err == nil && w.Unlocked {
		r.warn(fmt.Errorf("%s: this file system has no locks; let no other heatwalk write there at the same time", dir))
	}
	if err == nil && w.Removed > 0 {
		r.warn(fmt.Errorf("%s: removed %s of an unfinished ingest", dir, table.Counted(w.Removed, "file")))
	}
	return w, err
}

// distinctInputs refuses inputs that cannot be meant: none, or one file twice.
func (c *Config) distinctInputs(inputs []string) error {
	if len(inputs)+len(c.Sources) == 0 {
		return &nodefile.ParseError{Msg: "no input", Fix: "name a file, or - for standard input", Err: nodefile.ErrInput}
	}
	var infos []os.FileInfo // of the files before
	for i, path := range inputs {
		var info os.FileInfo
		var err error
		if path != "-" {
			info, err = os.Stat(path)
		}
		switch twice := func(before os.FileInfo) bool { return os.SameFile(before, info) }; {
		case slices.Contains(inputs[:i], path), info != nil && slices.ContainsFunc(infos, twice):
			return &nodefile.ParseError{File: path, Msg: "given twice; weights would double", Err: nodefile.ErrInput}
		case err != nil:
			return openError(err)
		case info != nil && info.IsDir():
			return textio.Directory(path)
		case info != nil:
			infos = append(infos, info)
		}
	}
	return nil
}

// bytesOf returns the sum of the sizes of files, 0 if one is no regular file.
func bytesOf(paths []string) (sum int64) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == "-" || err != nil || !info.Mode().IsRegular() {
			return 0
		}
		sum += info.Size()
	}
	return sum
}

// openError makes an error of looking at a file read like one of opening it.
func openError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		path.Op = "open"
	}
	return err
}

// warn reports something odd that does not stop the run.
func (r *run) warn(warning error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Warnings = append(r.report.Warnings, warning.Error())
	if r.c.Warn != nil {
		r.c.Warn(warning)
	}
}

func (r *run) progress(p Progress) {
	if r.c.Progress != nil {
		r.c.Progress(p)
	}
}

// dictNeeds returns the memory of the dictionary and of the numbering of its ids.
func (r *run) dictNeeds() int64 { return r.extent().naming() }

// fits returns a [*LimitError] if the limit has no room for the lines in memory, the
// dictionary, the numbering of its ids and so many other bytes. See fit for lines that
// may go to disk.
func (r *run) fits(other int64) error {
	if r.c.Memory == 0 {
		return nil
	}
	e := r.extent()
	need := other + e.reading()
	if need <= r.c.Memory {
		return nil
	}
	need = max(need, other+e.numbered()+sort.LeastBytes)
	need += need / 16 // for the work of other workers at the same time
	return &LimitError{Need: int64(float64(need) / r.shareRead()), Limit: r.c.Memory}
}

// shareRead returns the share of the bytes of the inputs that has been read; 1 if it is not known.
// A refusal divides the memory of the ids so far by it, because the rest of the inputs is like what
// has been read in most files.
func (r *run) shareRead() float64 {
	done := r.report.Bytes
	for _, in := range r.inputs {
		read, _ := in.Progress()
		done += read
	}
	if r.inputBytes == 0 || done == 0 || done >= r.inputBytes {
		return 1
	}
	return float64(done) / float64(r.inputBytes)
}

// otherBytes returns the memory that is neither of lines nor of their dictionary.
func (r *run) otherBytes() int64 {
	if r.nodes == nil {
		return r.extent().room()
	}
	return r.extent().numbered()
}

// hasValues tells whether entries have values.
func (r *run) hasValues() bool { return r.weighted || r.c.Duplicates == SumDuplicates }

// left returns what the limit leaves for sorting, 1 at least; 0 is no limit.
func (r *run) left() int64 {
	if r.c.Memory == 0 {
		return 0
	}
	return max(1, r.c.Memory-r.held-r.otherBytes())
}

// rows turns the codes of all parts into rows.
func (r *run) rows() (*shard.Nodes, error) {
	if r.matrix == nil {
		return r.number()
	}
	return r.matrixRows()
}

// isDirected tells whether the store will be: as the settings say, or else the
// input, a matrix by being symmetric or not.
func (r *run) isDirected() (bool, error) {
	switch {
	case r.c.Directed || r.c.Undirected:
		return r.c.Directed, nil
	case !r.hasBothDirections():
		skew := r.matrix != nil && r.matrix.symmetry == market.Skew
		return skew || r.stated == graphfile.Directed, nil
	}
	s := r.sorter(sort.Undirected)
	s.Merge.Symmetric = true
	if _, err := r.planSort(s, 0); err != nil {
		return false, err
	}
	err := s.Each(func(*sort.Rows) error { return nil })
	if errors.Is(err, sort.ErrAsymmetric) {
		return true, nil
	}
	return false, r.explain(err)
}

// hasBothDirections tells whether the input is a matrix that has an entry for
// each direction of an edge.
func (r *run) hasBothDirections() bool { return r.matrix != nil && r.matrix.symmetry == market.General }

// sorter returns the sorter for a view of the edges.
func (r *run) sorter(v sort.View) *sort.Sorter {
	values := r.hasValues()
	s := &sort.Sorter{
		Context: r.ctx, Workers: r.workers, Temporary: r.forFillings, Rows: r.nodes.Len(), View: v, Values: values, Limit: r.left(),
		Load:      func(worker, i int) (code []uint32, weight []float64, err error) { return r.load(worker, r.parts[i]) },
		KeepLoops: r.c.KeepLoops,
		Merge:     sort.Merger{Policy: sort.Policy(r.c.Duplicates), Values: values, PerDirection: r.hasBothDirections(), Directed: v != sort.Undirected},
	}
	if r.late != nil {
		late := r.late
		s.Rows, s.Number = late.Limit(), func(b *sort.Rows) { numberRows(late, b) }
	}
	return s
}
