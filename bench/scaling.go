package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Scaling measures jobs on graphs of increasing size, each in its own process.
type Scaling struct {
	Program string   // path of heatwalk
	Against string   // path of another build of heatwalk, which runs the same cells; "": none
	MPI     []string // command that starts heatwalk-mpi, with {processes}; nil: no cells of several processes
	Flags   []string // flags of every call of Program
	Folder  string   // folder for graphs and outputs

	Graphs []string         // rmat, sbm, grid, or paths of edge lists
	Jobs   []string         // names of [ScalingJobs]
	Lists  map[string][]int // values by names of [ScalingLists]

	Peers  []Peer
	Budget time.Duration

	Done     []*Cell                      `json:"-"` // cells of an earlier run, not measured again
	Progress func(done, total int64)      `json:"-"` // called with numbers of cells
	Save     func(r *ScalingReport) error `json:"-"` // called after each cell
}

// Peer is another program. In its command, {graph} stands for an edge list, and {columns}, {threads} and {job} for
// values of a cell. A command without {job} serves the job spmm only, and a command without {threads} runs with the last
// number of threads alone, because it would run the same for every number. Its last line must have the seconds of each
// repetition, and then the checksum of docs/json.md, or 0.
type Peer struct{ Name, Command string }

// Cell is a job on a graph with its cost.
type Cell struct {
	Job        string `json:"job"`
	Graph      string `json:"graph"`
	Columns    int    `json:"columns,omitempty"`
	Labels     int    `json:"labels,omitempty"`
	Classes    int    `json:"classes,omitempty"`
	Attributes int    `json:"attributes,omitempty"`
	Threads    int    `json:"threads"`
	Processes  int    `json:"processes,omitempty"` // processes that share the graph; 0: one, without MPI
	Source     string `json:"source,omitempty"`    // memory or disk
	Program    string `json:"program"`             // heatwalk or a peer

	Model   string `json:"model"` // model of the graph; the cells of a curve have one model
	Nodes   int64  `json:"nodes"`
	Entries int    `json:"entries"`
	Times
	PeakMemoryBytes  int64   `json:"peak_memory_bytes"` // peak of the process, with the graph
	Sweeps           int     `json:"sweeps,omitempty"`
	NsPerEntryColumn float64 `json:"ns_per_entry_column"`
	BytesPerSecond   float64 `json:"bytes_per_second,omitempty"`
	Checksum         float64 `json:"checksum"`
	LimitSeconds     float64 `json:"limit_seconds,omitempty"` // seconds that this machine needs at least for the same sweeps, see measureLimits
	LimitShare       float64 `json:"limit_share,omitempty"`   // LimitSeconds ÷ SecondsMin

	scale   int
	command string
}

func (c *Cell) id() string {
	return strings.Join(strings.Fields(fmt.Sprintln(c.Program, c.Job, c.Graph, c.Source, c.counts(""))), " ")
}

// Absence is a cell without a result.
type Absence struct {
	Cell   string `json:"cell"`
	Reason string `json:"reason"`
}

// ScalingReport is the result of [Scaling].
type ScalingReport struct {
	Machine Machine   `json:"machine"` // state at the start
	Cells   []*Cell   `json:"cells"`
	Fits    []Fit     `json:"fits"`
	Ratios  []Ratio   `json:"ratios,omitempty"`
	LeftOut []Absence `json:"left_out,omitempty"`

	cut int // first scale that does not fit into the budget; 0: none
}

// Ratio compares a cell of two builds.
type Ratio struct {
	Cell    string  `json:"cell"`
	Here    float64 `json:"seconds_here"`    // SecondsMin of this build
	Against float64 `json:"seconds_against"` // SecondsMin of the other build
	Ratio   float64 `json:"ratio"`
}

type scalingGraph struct {
	text, store  string // edge list, and store with the other files beside it
	ids          []string
	nodes, bytes int64
	entries      int
}

type childDocument struct {
	Report
	Nodes           int64 `json:"nodes"`
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
}

// ErrChecksum is the error about results that must be equal and are not.
var ErrChecksum = errors.New("checksums differ")

var errBudget = errors.New("it does not fit into the budget")

// Run measures all cells within the budget. It begins a scale only if the scale fits into the budget, as estimated
// from the growth of earlier scales. If Run fails, the report has the finished cells.
func (s *Scaling) Run(ctx context.Context) (*ScalingReport, error) {
	r := &ScalingReport{Machine: ThisMachine()}
	within, cancel := context.WithTimeout(ctx, s.Budget)
	defer cancel()
	cells := s.plan()
	graphs := map[string]*scalingGraph{}
	scale := 0
	start := time.Now()
	var last, previous time.Duration // times of the scale, and of the scale before
	for i, c := range cells {
		s.Progress(int64(i), int64(len(cells)))
		if c.scale > scale {
			if scale > 0 {
				previous, last = last, time.Since(start)
				growth := 2.0
				if previous > 0 {
					growth = min(4, max(1, last.Seconds()/previous.Seconds()))
				}
				deadline, _ := within.Deadline()
				if r.cut == 0 && last.Seconds()*math.Pow(growth, float64(c.scale-scale)) > time.Until(deadline).Seconds() {
					r.cut = c.scale
				}
			}
			scale = c.scale
			start = time.Now()
		}
		if k := slices.IndexFunc(s.Done, func(old *Cell) bool { return old.id() == c.id() }); k >= 0 {
			s.Done[k].scale = c.scale
			r.Cells = append(r.Cells, s.Done[k])
			continue
		}
		err := errBudget
		if r.cut == 0 || c.scale < r.cut {
			err = s.measure(within, c, graphs)
		}
		if err == nil {
			err = r.add(c)
		}
		switch {
		case err == nil:
			if err := s.Save(r); err != nil {
				return r, err
			}
		case ctx.Err() != nil:
			return r, sched.Cause(ctx)
		case errors.Is(err, ErrChecksum):
			return r, err
		default:
			if within.Err() != nil {
				err = errBudget
				if r.cut == 0 {
					r.cut = c.scale
				}
			}
			r.LeftOut = append(r.LeftOut, Absence{c.id(), err.Error()})
		}
	}
	r.measureLimits()
	r.fit()
	r.compareBuilds()
	return r, s.Save(r)
}

// plan returns cells of generated graphs by size, then cells of edge lists.
func (s *Scaling) plan() (cells []*Cell) {
	for _, scale := range append(s.Lists["scales"], 0) {
		for _, graph := range s.Graphs {
			c := Cell{Graph: graph, Model: "file"}
			if IsModel(graph) {
				c = Cell{Graph: fmt.Sprintf("%s-%d", graph, scale), Model: graph, scale: scale}
			}
			for _, c.Job = range s.Jobs {
				if IsModel(graph) == (scale > 0) {
					cells = append(cells, s.cellsLike(c)...)
				}
			}
		}
	}
	return cells
}

func (s *Scaling) cellsLike(c Cell) (cells []*Cell) {
	job := scalingJobs[c.Job]
	variants := []Cell{c}
	for _, axis := range scalingAxes[1:] {
		var next []Cell
		for _, c := range variants {
			for _, *axis.value(&c) = range s.Lists[axis.name] {
				next = append(next, c)
			}
		}
		if strings.Contains(job.axes, axis.name) {
			variants = next
		}
	}
	threads := s.Lists["threads"]
	for _, c := range variants {
		c.command = job.command
		isShared := c.Processes > 0
		for source := range strings.SplitSeq(job.sources, ",") {
			c.Source = source
			c.Program = ourName
			cells = append(cells, new(c))
			if s.Against != "" && !isShared {
				c.Program = otherName
				cells = append(cells, new(c))
			}
		}
		c.Source = ""
		for _, p := range s.Peers {
			isLast := c.Threads == threads[len(threads)-1]
			if (strings.Contains(p.Command, "{job}") || c.Job == "spmm") && (strings.Contains(p.Command, "{threads}") || isLast) && !isShared {
				c.Program, c.command = p.Name, p.Command
				cells = append(cells, new(c))
			}
		}
	}
	return cells
}

const (
	ourName   = "heatwalk"
	otherName = "other build"
)

func (c *Cell) isOurs() bool { return c.Program == ourName || c.Program == otherName }

// compareBuilds sets Ratios.
func (r *ScalingReport) compareBuilds() {
	for _, c := range r.Cells {
		if c.Program != ourName {
			continue
		}
		other := *c
		other.Program = otherName
		i := slices.IndexFunc(r.Cells, func(o *Cell) bool { return o.id() == other.id() })
		if i >= 0 {
			against := r.Cells[i].SecondsMin
			r.Ratios = append(r.Ratios, Ratio{strings.TrimPrefix(c.id(), ourName+" "), c.SecondsMin, against, c.SecondsMin / against})
		}
	}
}

// models has commands that generate graphs of 2^scale nodes, with at most 16 edges a node for rmat and 8 for sbm.
var models = map[string]string{
	"rmat": "generate rmat --scale={scale} -o {graph}",
	"sbm":  "generate sbm --nodes={nodes} --edges={edges} -o {graph}",
	"grid": "generate grid --rows={height} --columns={width} -o {graph}",
}

// IsModel reports whether graphs with this name are generated.
func IsModel(graph string) bool { return models[graph] != "" }

// add adds a cell to the report. It returns [ErrChecksum] if an earlier cell with the same job, graph and counts has
// another checksum. Checksums of peers may differ by a relative 1e-4.
func (r *ScalingReport) add(c *Cell) error {
	for _, other := range r.Cells {
		if other.Job != c.Job || other.Graph != c.Graph || other.counts("thread") != c.counts("thread") || other.Program == otherName || c.Program == otherName {
			continue
		}
		tolerance := 0.0
		if c.Program != ourName || other.Program != ourName {
			tolerance = 1e-4 * math.Abs(other.Checksum)
			if scalingJobs[c.Job].sweeps == 0 || c.Checksum == 0 || other.Checksum == 0 {
				continue
			}
		}
		if math.Abs(c.Checksum-other.Checksum) > tolerance {
			return fmt.Errorf("%w: %v of %s, %v of %s", ErrChecksum, c.Checksum, c.id(), other.Checksum, other.id())
		}
	}
	r.Cells = append(r.Cells, c)
	return nil
}

func (s *Scaling) measure(ctx context.Context, c *Cell, graphs map[string]*scalingGraph) (err error) {
	g := graphs[c.Graph]
	if g == nil {
		if g, err = s.prepare(ctx, c, fmt.Sprint("graph", len(graphs))); err != nil {
			return err
		}
		graphs[c.Graph] = g
	}
	c.Nodes = g.nodes
	c.Entries = g.entries
	job := scalingJobs[c.Job]
	words := c.words(c.command, s.Folder, g)
	if c.isOurs() {
		err = s.measureJob(ctx, c, g, words)
	} else {
		c.Sweeps = job.sweeps
		err = c.measurePeer(ctx, words)
	}
	if err != nil {
		return err
	}
	width, rowBytes := job.row(c.Columns)
	work := float64(g.entries) * float64(max(1, c.Sweeps))
	c.NsPerEntryColumn = c.SecondsMin / (work * float64(width)) * 1e9
	if c.Sweeps > 0 {
		c.BytesPerSecond = work * float64(rowBytes) / c.SecondsMin
	}
	if job.check != "" {
		c.BytesPerSecond = float64(g.bytes) / c.SecondsMin
	}
	return nil
}

// words returns the words of a command with the values of a cell in place of their names.
func (c *Cell) words(command, folder string, g *scalingGraph) []string {
	list := strings.Fields(command)
	values := map[string]any{
		"graph": g.text, "store": g.store, "output": filepath.Join(folder, "output"),
		"job": c.Job, "source": c.Source, "threads": c.Threads, "columns": max(1, c.Columns),
		"processes": c.Processes, "scale": c.scale, "nodes": 1 << c.scale, "edges": 8 << c.scale, "height": 1 << (c.scale / 2), "width": 1 << (c.scale - c.scale/2),
	}
	for i := range list {
		for name, value := range values {
			list[i] = strings.ReplaceAll(list[i], "{"+name+"}", fmt.Sprint(value))
		}
	}
	return list
}

// measureJob runs the job of a cell in heatwalk and stores the cost in the cell. If the job does not measure itself,
// measureJob runs it up to three times and measures the whole call.
func (s *Scaling) measureJob(ctx context.Context, c *Cell, g *scalingGraph, words []string) error {
	const most = 3
	const enough = 10 // seconds
	job := scalingJobs[c.Job]
	if c.Classes > 0 {
		if err := g.writeProblem(c); err != nil {
			return err
		}
		if c.Attributes > 0 {
			words = slices.Insert(words, 1, "--node-features", g.store+".attributes.tsv")
		}
	}
	for i := range most {
		start := time.Now()
		d, processor, err := s.callAs(ctx, c, words)
		if err != nil {
			return err
		}
		c.Sweeps = d.Sweeps
		c.PeakMemoryBytes = max(c.PeakMemoryBytes, d.PeakMemoryBytes)
		if d.Checksum != nil { // a workload of bench
			c.Times = d.Times
			c.Checksum = *d.Checksum
			return nil
		}
		c.add(time.Since(start).Seconds(), processor)
		if job.check != "" {
			if d, _, err = s.call(ctx, 0, c.words(job.check, s.Folder, g)); err != nil {
				return err
			}
			c.Checksum = *d.Checksum
		} else {
			data, err := os.ReadFile(words[len(words)-1])
			if err != nil {
				return err
			}
			c.Checksum = float64(crc32.ChecksumIEEE(data))
		}
		if c.SecondsMin*float64(i+1) > enough {
			break
		}
	}
	return nil
}

// callAs runs the program of a cell with its threads: this build, the other build, or heatwalk-mpi.
func (s *Scaling) callAs(ctx context.Context, c *Cell, words []string) (*childDocument, float64, error) {
	program := []string{s.Program}
	switch {
	case c.Processes > 0:
		program = c.words(strings.Join(s.MPI, " "), s.Folder, new(scalingGraph))
	case c.Program == otherName:
		program = []string{s.Against}
	}
	return s.run(ctx, program, c.Threads, words)
}

// call runs heatwalk and returns its document and its processor seconds.
func (s *Scaling) call(ctx context.Context, threads int, words []string) (*childDocument, float64, error) {
	return s.run(ctx, []string{s.Program}, threads, words)
}

func (s *Scaling) run(ctx context.Context, program []string, threads int, words []string) (*childDocument, float64, error) {
	words = slices.Concat(program[1:], words, []string{"--json", fmt.Sprintf("--threads=%d", threads)}, s.Flags)
	cmd := exec.CommandContext(ctx, program[0], words...)
	out, err := output(cmd)
	if err != nil {
		return nil, 0, err
	}
	d := new(childDocument)
	return d, childSeconds(cmd), json.Unmarshal(out, d)
}

// output runs a command and returns its stdout. An error has the last line of stderr.
func output(cmd *exec.Cmd) ([]byte, error) {
	var messages bytes.Buffer
	cmd.Stderr = &messages
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, lastLine(messages.Bytes()))
	}
	return out, err
}

func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}

func childSeconds(cmd *exec.Cmd) float64 {
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

func (c *Cell) measurePeer(ctx context.Context, words []string) error {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", c.Threads))
	start := time.Now()
	out, err := output(cmd)
	if err != nil {
		return err
	}
	load := childSeconds(cmd) / time.Since(start).Seconds() // mean use of processors
	fields := strings.Fields(lastLine(out))
	for i, field := range fields {
		x, err := strconv.ParseFloat(field, 64)
		if err != nil || len(fields) < 2 {
			return fmt.Errorf("%s: the last line %q lacks seconds and a checksum", c.Program, lastLine(out))
		}
		if i == len(fields)-1 {
			c.Checksum = x
		} else {
			c.add(x, x*load)
		}
	}
	c.PeakMemoryBytes = peakMemory(cmd.ProcessState)
	return nil
}

// prepare makes the files of a graph: the edge list, a store in the order by degree, and lists of the first
// ids.
func (s *Scaling) prepare(ctx context.Context, c *Cell, name string) (*scalingGraph, error) {
	g := &scalingGraph{text: c.Graph, store: filepath.Join(s.Folder, name)}
	if IsModel(c.Model) {
		g.text = g.store + ".tsv"
	}
	for _, command := range []string{models[c.Model], "ingest {graph} --order=degree -o {store}", "info {store} --ids={store}.ids"} {
		if command == "" {
			continue
		}
		d, _, err := s.call(ctx, 0, c.words(command, s.Folder, g))
		if err != nil {
			return nil, err
		}
		g.nodes = d.Nodes
		g.entries = int(d.Entries)
	}
	info, err := os.Stat(g.text)
	if err != nil {
		return nil, err
	}
	g.bytes = info.Size()
	ids, err := os.ReadFile(g.store + ".ids")
	g.ids = strings.Split(strings.TrimSuffix(string(ids), "\n"), "\n")
	for _, k := range append(s.Lists["columns"], 300) {
		text := strings.Join(g.ids[:min(k, len(g.ids))], "\n") + "\n"
		err = cmp.Or(err, os.WriteFile(fmt.Sprintf("%s.%d.ids", g.store, k), []byte(text), 0o666))
	}
	return g, err
}

// writeProblem writes the labels and the attributes of a cell. Labelled nodes are evenly spaced, and the ids of each
// class are consecutive.
func (g *scalingGraph) writeProblem(c *Cell) error {
	var labels, attributes strings.Builder
	n := min(cmp.Or(c.Labels, (len(g.ids)+19)/20), len(g.ids))
	for k := range n {
		i := k * len(g.ids) / n
		fmt.Fprintf(&labels, "%s\tclass%d\n", g.ids[i], c.Classes*i/len(g.ids))
	}
	attributes.WriteString("node")
	for j := range c.Attributes {
		fmt.Fprintf(&attributes, "\tx%d", j)
	}
	for i, id := range g.ids {
		attributes.WriteString("\n" + id)
		for j := range c.Attributes {
			fmt.Fprintf(&attributes, "\t0.%03d", (7919*i+104729*(i+1)*j)%1000)
		}
	}
	attributes.WriteString("\n")
	return cmp.Or(os.WriteFile(g.store+".labels.tsv", []byte(labels.String()), 0o666),
		os.WriteFile(g.store+".attributes.tsv", []byte(attributes.String()), 0o666))
}

// measureLimits sets LimitSeconds of each cell: the time to read as many random rows of the same width. For a graph
// on disk it is the time to decode the graph as often, if that is longer.
func (r *ScalingReport) measureLimits() {
	rates := map[[3]int]float64{}
	for _, c := range r.Cells {
		_, rowBytes := scalingJobs[c.Job].row(c.Columns)
		if c.Sweeps == 0 || rowBytes == 0 || c.Job == "decode" {
			continue
		}
		key := [3]int{c.Threads, int(c.Nodes), rowBytes}
		if rates[key] == 0 {
			rates[key] = gatherRate(key[0], key[1], key[2])
		}
		c.LimitSeconds = float64(c.Entries) * float64(c.Sweeps) * float64(rowBytes) / rates[key]
		for _, decoded := range r.Cells {
			if c.Source == "disk" && decoded.Job == "decode" && decoded.Graph == c.Graph && decoded.Threads == c.Threads {
				c.LimitSeconds = max(c.LimitSeconds, float64(c.Sweeps)*decoded.SecondsMin)
			}
		}
		c.LimitShare = c.LimitSeconds / c.SecondsMin
	}
}
