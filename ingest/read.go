package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
)

// edgeList is a text input that [reader.readGroup] reads. seq is the number of its first chunk.
type edgeList struct {
	in   *textio.Reader
	file int
	lay  *lines.Layout // nil: the input is empty
	sum  lines.Tally
	seq  int
}

// maxChunks is the distance between the chunk numbers of files that are read at the same time. It exceeds the
// number of chunks of any file.
const maxChunks = 1 << 24

// reader is the first stage of a run. It reads lines, the names of the nodes, and the direction of edges.
type reader struct {
	stage
	stated   graphfile.Direction
	statedBy string
}

func (r *reader) read(inputs []string) (graphfile.Direction, error) {
	isInteger := func(word string) bool { return table.IsInteger([]byte(word)) }
	r.names.useDict.Store(slices.ContainsFunc(r.c.Missing, isInteger)) // missing words are found in the dictionary
	if r.c.Nodes != "" {
		if err := r.readNodes(); err != nil {
			return 0, err
		}
	}
	if err := r.readInputs(inputs); err != nil {
		return 0, err
	}
	if err := r.t.checkKinds(); err != nil {
		return 0, err
	}
	for _, warning := range r.t.codes.TimeWarnings(r.c.Time) {
		r.t.warn(warning)
	}
	if slices.ContainsFunc(r.lines.parts,
		func(p *part) bool { return p.edges > 0 }) {
		return r.stated, nil
	}
	f := &r.t.files[len(r.t.files)-max(len(inputs), 1)]
	fix := "check that this is the right file"
	if f.hasHeader {
		fix += "; if the first line is an edge, pass {header=no}"
	}
	if r.names.listedIDs > 0 { // nodes without edges are a graph
		r.t.warn(textio.Fault(f.Name, 0, fix, "no edges, so that no node of %s has any", r.c.Nodes))
		if r.lines.parts == nil { // an empty file
			r.lines.parts = []*part{{seq: r.names.seq, file: len(r.t.files) - 1}}
		}
		return r.stated, nil
	}
	return 0, textio.Fault(f.Name, 0, fix, "no edges")
}

// readInputs reads all inputs into parts. It reads consecutive compressed edge lists at the same time,
// because each list is decompressed by one goroutine. The parts are the same as if files were read one after
// another.
func (r *reader) readInputs(inputs []string) error {
	several := len(inputs) > 1
	limit := r.t.workers
	if r.t.c.Memory == 0 || r.t.c.Memory >= int64(r.t.workers)<<27 { // enough memory to open more files than can be read at once
		limit *= 2 // otherwise short files would wait for long files
	}
	var group []*edgeList
	flush := func() error {
		err := r.readGroup(group)
		group = nil
		return err
	}
	for _, path := range inputs {
		in, err := r.open(path)
		if err != nil {
			return cmp.Or(flush(), err)
		}
		format, err := r.c.recognize(r.t.ctx, in)
		if err != nil {
			in.Close()
			return cmp.Or(flush(), err)
		}
		beside := several && r.t.workers > 1 && in.Compressed &&
			in.Window() <= usualWindow && format == graphfile.EdgeList
		if !beside {
			if err := flush(); err != nil {
				in.Close()
				return err
			}
		}
		if format != graphfile.EdgeList {
			if err := r.readForeign(in, format, several); err != nil {
				return err
			}
			continue
		}
		list := &edgeList{in: in, file: len(r.t.files) - 1}
		r.t.files[list.file].Format = format.Title
		group = append(group, list)
		if err := r.begin(list, several); err != nil {
			group = group[:len(group)-1]
			r.close(in, list.file, 0)
			return cmp.Or(flush(), err)
		}
		if !beside || len(group) == limit {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for _, s := range r.c.Sources {
		if err := r.readSource(s); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) open(path string) (*textio.Reader, error) {
	in, err := textio.Open(r.t.ctx, path, r.c.openOptions(r.t.warn))
	if err != nil {
		return nil, err
	}
	r.t.inputs = append(r.t.inputs, in)
	r.t.files = append(r.t.files, FileReport{Name: in.Name()})
	return in, nil
}

func (c *Config) openOptions(warn func(error)) *textio.Options {
	return &textio.Options{Stdin: c.Stdin, Warn: warn, Any: true, Text: c.Text,
		Window:       cmp.Or(c.Window, textio.DefaultWindow),
		WindowOption: textio.WindowOption}
}

// usualWindow is the largest window of a zstd level below --ultra. workerBytes includes it.
const usualWindow = 8 << 20

// unusualWindow returns the memory of a decompression window that workerBytes does not include. It may grow
// during reading.
func unusualWindow(in *textio.Reader) int64 {
	if w := in.Window(); w > usualWindow {
		return w
	}
	return 0
}

func (r *reader) close(in *textio.Reader, file int, lines int64) {
	done, _ := in.Progress()
	f := &r.t.files[file]
	f.Bytes = done
	f.Lines = lines
	r.t.report.Bytes += done
	r.t.report.Lines += lines
	in.Close()
	if s, isWhole := in.Sum(); isWhole {
		f.CRC = s.CRC
	}
	r.t.inputs = slices.DeleteFunc(r.t.inputs,
		func(open *textio.Reader) bool { return open == in })
}

func (r *reader) begin(list *edgeList, several bool) (err error) {
	if err := list.in.CheckText(); err != nil {
		return err
	}
	settings := r.c.lineSettings(r.t.warn)
	settings.TextIDs = r.t.textIDs[list.in.Name()]
	list.lay, err = settings.LayoutOf(list.in, &list.sum)
	if err != nil || list.lay == nil {
		return err
	}
	r.t.report.Events = r.t.report.Events || list.lay.AreEvents
	f := &r.t.files[list.file]
	f.Columns = list.lay.Columns
	f.Settings = list.lay.Settings()
	f.hasHeader = list.lay.HasHeader()
	if err := r.state(list.in.Name(), list.lay.Direction); err != nil {
		return err
	}
	if list.lay.IsMixed && !r.c.Directed && !r.c.Undirected {
		r.t.warn(textio.Fault(list.in.Name(), 0, "pass {directed} or {undirected}",
			"the column Type has directed and undirected edges, and all are read as undirected"))
	}
	if m := list.lay.Market; m != nil {
		f.Format = graphfile.MatrixMarket.Title
		if err := r.c.checkFlags(list.in.Name(), graphfile.MatrixMarket); err != nil {
			return err
		}
		if several || r.c.Fields != nil || r.c.Weight != "" {
			return refuse(list.in.Name(),
				"give it alone, without {fields} and {weight}",
				"a Matrix Market file numbers its own nodes")
		}
		r.names.matrix = &matrix{rows: m.Rows, first: 1, symmetry: m.Symmetry}
	}
	return nil
}

// readGroup reads one list with all workers, or several lists side by side. The error is the error of the
// first list with an error.
func (r *reader) readGroup(group []*edgeList) (err error) {
	first := len(r.lines.parts)
	base := r.names.seq
	if len(group) == 0 {
		return nil
	}
	read := &reading{r: r, group: group}
	for i, list := range group {
		list.seq = base + i*maxChunks
	}
	read.failed.Store(int64(len(group)))
	if len(group) == 1 {
		err = read.list(0, r.t.workers, 0)
	} else {
		err = sched.Run(r.t.ctx, r.t.workers, len(group), func(worker, i int) error {
			err := read.list(worker, 1, i)
			for failed := read.failed.Load(); err != nil && failed > int64(i); failed = read.failed.Load() {
				read.failed.CompareAndSwap(failed, int64(i))
			}
			return err
		})
	}
	for _, list := range group {
		sum := list.sum
		name := list.in.Name()
		if again := list.checkIDs(); again != nil && err == nil {
			err = again
		}
		r.t.report.Comments += sum.Comments
		r.t.reportRounded(fmt.Sprintf("%s:%d", name, sum.Rounded.First),
			sum.Rounded.N)
		r.t.reportPadded(list)
		for _, joined := range sum.Joined {
			if joined.N > 0 && err == nil {
				r.t.warn(textio.Fault(name, joined.First, "", "%s is read as the node %s, like all whole numbers in its column (%s)",
					words.Quoted(joined.ID), table.PlainInteger(joined.ID), words.Counted(joined.N, "such line")))
			}
		}
		if n := sum.RoundedIDs.N; n > 0 {
			r.t.warn(faultRounded(name, sum.RoundedIDs.First, words.Counted(n, "line")))
		}
		if sum.Weightless.N > 0 {
			r.t.warn(graphfile.MissingWeights(name, sum.Weightless.First,
				sum.Weightless.N))
		}
		if sum.Zeros.N > 0 && err == nil {
			r.t.warn(lines.ZeroWarning(name, sum.Zeros, list.lay.WithoutWeight()))
		}
		r.t.files[list.file].firstBlank = sum.Blanks.First
		if sum.Headers.N > 0 {
			r.t.warn(table.HeaderWarning(name, sum.Headers.First, sum.Headers.N))
		}
		if sum.Remarks.N > 0 {
			r.t.warn(table.RemarkWarning(name, sum.Remarks.First, sum.Remarks.N))
		}
		r.close(list.in, list.file, sum.Lines)
		if s, isWhole := list.in.Sum(); isWhole && s.IsOpen && err == nil {
			r.t.warn(textio.Fault(name, s.Lines, "compare the file with its source",
				"the last line has no line end, as in a file that was cut"))
		}
	}
	mine := r.lines.parts[first:]
	slices.SortFunc(mine, func(a, b *part) int { return a.seq - b.seq })
	if len(mine) > 0 {
		r.names.seq = mine[len(mine)-1].seq + 1
	}
	return err
}

// reading is the state of one call of [reader.readGroup].
type reading struct {
	r      *reader
	group  []*edgeList
	failed atomic.Int64 // index of the first file with an error; readers of later files may stop
}

func (g *reading) list(worker, workers, i int) error {
	r := g.r
	list := g.group[i]
	if list.lay == nil {
		return nil
	}
	var stop atomic.Bool // set after enough bad lines
	var bad atomic.Int64
	var mine []*part
	parsers := make([]*lines.Parser, workers)
	err := list.in.Chunks(workers, func(w int, chunk *textio.Chunk) error {
		if stop.Load() || g.failed.Load() < int64(i) {
			return errEnough
		}
		if parsers[w] == nil {
			parsers[w] = &lines.Parser{Name: list.in.Name(), Layout: list.lay,
				Slabs: &r.lines.slabs[worker+w], Dict: r.names.dict,
				Codes: &r.t.codes, Signed: r.c.Signed}
		}
		p, err := r.parse(parsers[w], chunk, list)
		if err != nil {
			return err
		}
		if !r.c.SkipBadLines && bad.Add(p.bad.Count) >= maxBad {
			stop.Store(true)
		}
		if err := r.addPart(worker+w, p); err != nil {
			return err
		}
		r.t.mu.Lock()
		defer r.t.mu.Unlock()
		mine = append(mine, p)
		list.sum.Add(p.stats)
		g.progress()
		return nil
	})
	slices.SortFunc(mine, func(a, b *part) int { return a.seq - b.seq })
	if !r.c.SkipBadLines {
		faults := make([]lines.Faults, len(mine))
		for i, p := range mine {
			faults[i] = p.bad
		}
		good := slices.ContainsFunc(mine, func(p *part) bool { return p.edges > 0 })
		if bad := join(faults, good); bad != nil && r.t.ctx.Err() == nil {
			if damage := list.in.Damage(); damage != nil { // damage explains the bad lines
				return damage
			}
			return bad
		}
	}
	if err != nil {
		return err
	}
	var read, wrong int64
	for _, p := range mine {
		wrong += p.bad.Count
		read += int64(p.edges) + p.bad.Count
	}
	r.t.mu.Lock()
	r.t.report.BadLines += wrong
	r.t.mu.Unlock()
	if list.lay.Market != nil {
		return list.lay.Market.Complete(read)
	}
	return nil
}

func (g *reading) progress() {
	stage := readingStage + " " + g.group[0].in.Name()
	if n := len(g.group) - 1; n > 0 {
		stage += fmt.Sprintf(" and %s", words.Counted(n, "other"))
	}
	var done, total int64
	for _, list := range g.group {
		read, size := list.in.Progress()
		done += read
		total += size
	}
	g.r.t.progress(stage, done, total)
}

// errEnough stops the reading of a file with too many bad lines, or after a file that failed.
var errEnough = errors.New("ingest: too many bad lines")

func (c *Config) lineSettings(warn func(error)) *lines.Settings {
	time, form := table.SplitTimeSetting(c.Time)
	weight, isReciprocal := table.SplitWeight(c.Weight)
	return &lines.Settings{Text: c.Text, Fields: c.fields(), Weight: weight, Reciprocal: isReciprocal,
		Unweighted: c.Unweighted, Kind: c.Kind, Time: time, TimeForm: form,
		Bipartite: c.Bipartite, Signed: c.Signed, Header: c.Header,
		SkipBadLines: c.SkipBadLines, MaxNodes: maxNodes, Warn: warn}
}

// parse makes a part of a chunk. It uses the dictionary as soon as some id is not a small integer. The slices
// of the part are valid until the parser reads its next chunk.
func (r *reader) parse(p *lines.Parser, chunk *textio.Chunk,
	list *edgeList) (*part, error) {
	if list.lay.IsBipartite() {
		r.names.useDict.Store(true)
	}
	read, err := p.Read(chunk, r.names.useDict.Load() && list.lay.Market == nil)
	if errors.Is(err, lines.ErrText) {
		r.names.useDict.Store(true)
		read, err = p.Read(chunk, true)
	}
	if err != nil {
		return nil, err
	}
	out := &part{
		seq: list.seq + chunk.Index, file: list.file, first: chunk.First,
		code: read.Code, weight: read.Weight,
		weighted: list.lay.HasWeights(), values: list.lay.HasValues(),
		gaps: read.Gaps, bad: read.Bad, stats: read.Stats,
	}
	if read.IDs != nil {
		err = r.names.codes(out, out.code, chunk.Data, read.IDs)
	}
	r.names.text.Add(int64(len(chunk.Data)))
	return out, err
}

// addPart copies the lines of a chunk to memory or to disk. The caller may then reuse the slices of p.
func (r *reader) addPart(worker int, p *part) error {
	p.edges = len(p.code) / 2
	if r.names.matrix != nil {
		p.top = uint32(max(r.names.matrix.rows, 1) - 1)
	} else {
		p.top = sort.Largest(p.code)
	}
	keep, evict := r.m.admit(p)
	p.gaps = slices.Clone(p.gaps)
	if keep {
		p.code, p.weight = r.lines.slabs[worker].Code.Keep(p.code),
			r.lines.slabs[worker].Weight.Keep(p.weight)
	} else {
		if err := r.t.checkEvicted(append(evict, p)); err != nil {
			return err
		}
		if err := r.lines.moveAll(worker, append(evict, p)); err != nil {
			return err
		}
	}
	r.t.mu.Lock()
	if !keep {
		p.leaving = true
		r.lines.held += p.bytes()
	}
	r.lines.parts = append(r.lines.parts, p)
	r.t.report.PeakBytes = max(r.t.report.PeakBytes, r.lines.held+r.m.extent().dict)
	r.t.mu.Unlock()
	return r.m.fit(worker, 0)
}
