package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Scaling is a run that measures jobs on graphs of growing size, each in a process of its own, from small to large.
type Scaling struct {
	Program string   // heatwalk
	Flags   []string // of every call of it
	Folder  string   // for graphs and outputs

	Graphs  []string // rmat, sbm, grid, or paths of edge lists
	Scales  []int    // generated graphs have 2^scale nodes
	Threads []int
	Columns []int
	Jobs    []string // names of [ScalingJobs]

	// Of jobs that learn: labelled nodes, 0 for every twentieth one, their classes, and numbers that each node has.
	Labels, Classes, Attributes []int

	Peers  []Peer
	Budget time.Duration

	Done     []*Cell                      `json:"-"` // of an earlier run, which are not measured again
	Progress func(done, total int64)      `json:"-"` // in units of expected time
	Save     func(r *ScalingReport) error `json:"-"` // after each cell
}

// Peer is another program. In the words of its command {graph} is an edge list, and {columns}, {threads} and {job} are those of
// a cell; without {job} it is compared in spmm. The last line that it prints has the seconds of each repetition, and then the
// checksum of docs/json.md, or 0.
type Peer struct{ Name, Command string }

// Cell is a job with its cost.
type Cell struct {
	Job        string `json:"job"`
	Graph      string `json:"graph"`
	Columns    int    `json:"columns,omitempty"`
	Labels     int    `json:"labels,omitempty"`
	Classes    int    `json:"classes,omitempty"`
	Attributes int    `json:"attributes,omitempty"`
	Threads    int    `json:"threads"`
	Source     string `json:"source,omitempty"` // memory or disk
	Program    string `json:"program"`          // heatwalk or a peer

	Model   string `json:"model"` // graphs of one model are a curve
	Nodes   int64  `json:"nodes"`
	Entries int64  `json:"entries"`
	Times
	PeakMemoryBytes  int64   `json:"peak_memory_bytes"` // of the process, the graph included
	Sweeps           int     `json:"sweeps,omitempty"`
	NsPerEntryColumn float64 `json:"ns_per_entry_column"`
	BytesPerSecond   float64 `json:"bytes_per_second,omitempty"`
	Checksum         float64 `json:"checksum"`
	LimitSeconds     float64 `json:"limit_seconds,omitempty"` // of this machine for the same sweeps
	LimitShare       float64 `json:"limit_share,omitempty"`   // LimitSeconds ÷ SecondsMin

	scale  int     // of a generated graph
	weight float64 // entries times columns, as expected before the graph is there
}

// id names a cell.
func (c *Cell) id() string {
	return strings.Join(strings.Fields(strings.Join([]string{c.Program, c.Job, c.Graph, c.Source, c.counts("")}, " ")), " ")
}

// Absence is a cell without a result.
type Absence struct {
	Cell   string `json:"cell"`
	Reason string `json:"reason"`
}

// ScalingReport is the result of [Scaling].
type ScalingReport struct {
	Machine Machine   `json:"machine"` // at the start
	Limits  []Limit   `json:"limits"`
	Cells   []*Cell   `json:"cells"`
	Fits    []Fit     `json:"fits"`
	LeftOut []Absence `json:"left_out,omitempty"`
}

// scalingGraph is a graph in all forms that jobs read.
type scalingGraph struct {
	text, store, rows     string
	ids                   []string
	columns               map[int]string // files of as many ids
	nodes, entries, bytes int64
}

// childDocument has the keys of documents of heatwalk that cells have.
type childDocument struct {
	Report
	Nodes           int64 `json:"nodes"`
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
}

// ErrChecksum is the error of results that must be equal and are not.
var ErrChecksum = errors.New("checksums differ")

// startWeight is the number of entries that take as long as the start of a process.
const startWeight = 1 << 20

// Run measures all cells within the budget. The report has those that are finished, also with an error.
func (s *Scaling) Run(ctx context.Context) (*ScalingReport, error) {
	r := &ScalingReport{Machine: ThisMachine()}
	deadline := time.Now().Add(s.Budget)
	within, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	cells := s.plan()
	var total, done float64
	for _, c := range cells {
		total += c.weight
	}
	graphs := map[string]*scalingGraph{}
	pace := map[string]float64{} // seconds for each unit of weight of a job
	for _, c := range cells {
		s.Progress(int64(done), int64(total))
		done += c.weight
		i := slices.IndexFunc(s.Done, func(old *Cell) bool { return old.id() == c.id() })
		if i >= 0 {
			r.Cells = append(r.Cells, s.Done[i])
			continue
		}
		key := c.Program + c.Job
		weight := c.weight + startWeight
		start := time.Now()
		if expected := time.Duration(pace[key] * weight * float64(time.Second)); start.Add(expected).After(deadline) {
			r.leaveOut(c, "it does not fit into the budget")
			continue
		}
		err := s.measure(within, c, graphs)
		if err == nil {
			r.Cells = append(r.Cells, c)
			err = r.compare(c)
		}
		switch {
		case ctx.Err() != nil:
			return r, context.Cause(ctx)
		case within.Err() != nil && err != nil:
			r.leaveOut(c, "the budget ended while it ran")
			pace[key] = math.Inf(1)
			continue
		case errors.Is(err, ErrChecksum):
			return r, err
		case err != nil:
			r.leaveOut(c, err.Error())
			continue
		}
		pace[key] = time.Since(start).Seconds() / weight
		if err := s.Save(r); err != nil {
			return r, err
		}
	}
	s.measureLimits(r)
	r.fit()
	return r, s.Save(r)
}

func (r *ScalingReport) leaveOut(c *Cell, reason string) {
	r.LeftOut = append(r.LeftOut, Absence{c.id(), reason})
}

// plan returns all cells from small to large.
func (s *Scaling) plan() (cells []*Cell) {
	for _, graph := range s.Graphs {
		scales := s.Scales
		if !IsModel(graph) {
			scales = []int{0}
		}
		for _, scale := range scales {
			c := Cell{Graph: fmt.Sprintf("%s-%d", graph, scale), Model: graph, scale: scale, weight: 16 * math.Ldexp(1, scale)}
			if !IsModel(graph) {
				c.Graph = graph
				c.Model = "file"
				if info, err := os.Stat(graph); err == nil {
					c.weight = float64(info.Size()) / 8 // characters of an entry
				}
			}
			for _, c.Threads = range s.Threads {
				cells = append(cells, s.cellsOn(c)...)
			}
		}
	}
	slices.SortStableFunc(cells, func(a, b *Cell) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(a.Columns, b.Columns),
			cmp.Compare(a.Labels+a.Classes+a.Attributes, b.Labels+b.Classes+b.Attributes))
	})
	for _, c := range cells {
		c.weight *= float64(max(1, c.Columns))
	}
	return cells
}

// cellsOn returns the cells with the graph and threads of c.
func (s *Scaling) cellsOn(c Cell) (cells []*Cell) {
	for _, job := range scalingJobs {
		if !slices.Contains(s.Jobs, job.name) {
			continue
		}
		sources := []string{""}
		if job.hasSources {
			sources = []string{"memory", "disk"}
		}
		c.Job = job.name
		for _, one := range s.sizes(c, &job) {
			for _, source := range sources {
				ours := one
				ours.Program = "heatwalk"
				ours.Source = source
				cells = append(cells, &ours)
			}
			for _, p := range s.Peers {
				if strings.Contains(p.Command, "{job}") || job.name == "spmm" {
					theirs := one
					theirs.Program = p.Name
					cells = append(cells, &theirs)
				}
			}
		}
	}
	return cells
}

// sizes returns c with the numbers of columns, or of labels, classes and attributes, that a job has.
func (s *Scaling) sizes(c Cell, job *scalingJob) (cells []Cell) {
	switch {
	case job.learns:
		for _, c.Labels = range s.Labels {
			for _, c.Classes = range s.Classes {
				for _, c.Attributes = range s.Attributes {
					cells = append(cells, c)
				}
			}
		}
	case job.hasColumns:
		for _, c.Columns = range s.Columns {
			cells = append(cells, c)
		}
	default:
		cells = append(cells, c)
	}
	return cells
}

// IsModel reports whether graphs of a name are generated.
func IsModel(graph string) bool { return slices.Contains([]string{"rmat", "sbm", "grid"}, graph) }

// compare compares the checksum of the last cell with those of equal cells: exactly, and with a relative error of 1e-4 for
// those of peers.
func (r *ScalingReport) compare(c *Cell) error {
	job := jobOf(c.Job)
	for _, other := range r.Cells {
		if other.Job != c.Job || other.Graph != c.Graph || other.counts("thread") != c.counts("thread") || other.Checksum == c.Checksum {
			continue
		}
		if c.Program != "heatwalk" || other.Program != "heatwalk" {
			tolerance := 1e-4 * math.Abs(other.Checksum)
			if job.workload == "" || c.Checksum == 0 || other.Checksum == 0 ||
				math.Abs(c.Checksum-other.Checksum) <= tolerance {
				continue
			}
		}
		r.Cells = r.Cells[:len(r.Cells)-1]
		return fmt.Errorf("%w: %v of %s, %v of %s", ErrChecksum, c.Checksum, c.id(), other.Checksum, other.id())
	}
	return nil
}

func jobOf(name string) *scalingJob {
	return &scalingJobs[slices.IndexFunc(scalingJobs, func(j scalingJob) bool { return j.name == name })]
}

// measure sets the results of a cell.
func (s *Scaling) measure(ctx context.Context, c *Cell, graphs map[string]*scalingGraph) (err error) {
	g := graphs[c.Graph]
	if g == nil {
		if g, err = s.prepare(ctx, c); err != nil {
			return err
		}
		graphs[c.Graph] = g
	}
	c.Nodes, c.Entries = g.nodes, g.entries
	job := jobOf(c.Job)
	if c.Program == "heatwalk" {
		err = s.measureJob(ctx, c, job, g)
	} else {
		err = s.measurePeer(ctx, c, g)
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
	if c.Job == "ingest" {
		c.BytesPerSecond = float64(g.bytes) / c.SecondsMin
	}
	return nil
}

// measureJob runs heatwalk, several times if the whole call counts.
func (s *Scaling) measureJob(ctx context.Context, c *Cell, job *scalingJob, g *scalingGraph) error {
	const most = 3
	const enough = 10 // seconds
	output := filepath.Join(s.Folder, "output")
	words := job.words(c, g, output)
	if job.learns {
		flags, err := g.writeProblem(c)
		if err != nil {
			return err
		}
		words = slices.Concat(words[:1], flags, words[1:])
	}
	for i := range most {
		start := time.Now()
		d, process, err := s.call(ctx, c.Threads, words...)
		if err != nil {
			return err
		}
		seconds := time.Since(start).Seconds()
		sum, err := s.checksumOf(ctx, job, d, words[len(words)-1])
		if err != nil {
			return err
		}
		if i > 0 && sum != c.Checksum {
			return fmt.Errorf("%w: %v and then %v of %s", ErrChecksum, c.Checksum, sum, c.id())
		}
		c.Checksum, c.Sweeps, c.PeakMemoryBytes = sum, d.Sweeps, max(c.PeakMemoryBytes, d.PeakMemoryBytes)
		if job.workload != "" {
			c.Times = d.Times
			return nil
		}
		c.add(seconds, (process.UserTime() + process.SystemTime()).Seconds())
		if c.SecondsMin*float64(i+1) > enough {
			break
		}
	}
	return nil
}

// call runs heatwalk and returns its document.
func (s *Scaling) call(ctx context.Context, threads int, words ...string) (*childDocument, *os.ProcessState, error) {
	words = append(words, "--json", fmt.Sprintf("--threads=%d", threads))
	out, process, err := output(ctx, exec.CommandContext(ctx, s.Program, append(words, s.Flags...)...))
	if err != nil {
		return nil, nil, err
	}
	d := new(childDocument)
	return d, process, json.Unmarshal(out, d)
}

// output runs a command and returns its stdout; the error has the last line of stderr.
func output(ctx context.Context, cmd *exec.Cmd) ([]byte, *os.ProcessState, error) {
	var messages bytes.Buffer
	cmd.Stderr = &messages
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(messages.String()), "\n")
		return nil, nil, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, lines[len(lines)-1])
	}
	return out, cmd.ProcessState, nil
}

// measurePeer runs a peer.
func (s *Scaling) measurePeer(ctx context.Context, c *Cell, g *scalingGraph) error {
	i := slices.IndexFunc(s.Peers, func(p Peer) bool { return p.Name == c.Program })
	words := strings.Fields(s.Peers[i].Command)
	threads := strconv.Itoa(c.Threads)
	values := strings.NewReplacer("{graph}", g.text, "{job}", c.Job, "{threads}", threads,
		"{columns}", strconv.Itoa(max(1, c.Columns)))
	for i, word := range words {
		words[i] = values.Replace(word)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS="+threads)
	start := time.Now()
	out, process, err := output(ctx, cmd)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	if len(fields) < 2 {
		return fmt.Errorf("%s: the last line %q lacks seconds and a checksum", c.Program, lines[len(lines)-1])
	}
	numbers := make([]float64, len(fields))
	for i, field := range fields {
		if numbers[i], err = strconv.ParseFloat(field, 64); err != nil {
			return fmt.Errorf("%s: the last line: %w", c.Program, err)
		}
	}
	last := len(numbers) - 1
	c.Checksum = numbers[last]
	processor := (process.UserTime() + process.SystemTime()).Seconds() / time.Since(start).Seconds()
	for _, seconds := range numbers[:last] {
		c.add(seconds, seconds*processor) // the mean use of processors
	}
	c.PeakMemoryBytes = peakMemory(process)
	c.Sweeps = jobOf(c.Job).sweeps
	return nil
}

// prepare makes a graph: the edge list, a store by degree, and lists of the first ids.
func (s *Scaling) prepare(ctx context.Context, c *Cell) (*scalingGraph, error) {
	base := filepath.Join(s.Folder, "graph")
	if c.Model == "file" {
		base += strconv.Itoa(slices.Index(s.Graphs, c.Graph))
	} else {
		base = filepath.Join(s.Folder, c.Graph)
	}
	g := &scalingGraph{text: base + ".tsv", store: base, rows: base + ".rows.ids", columns: map[int]string{}}
	if c.Model == "file" {
		g.text = c.Graph
	} else {
		size := map[string][]string{
			"rmat": {fmt.Sprintf("--scale=%d", c.scale)},
			"sbm":  {fmt.Sprintf("--nodes=%d", 1<<c.scale), fmt.Sprintf("--edges=%d", 8<<c.scale)},
			"grid": {fmt.Sprintf("--rows=%d", 1<<(c.scale/2)), fmt.Sprintf("--columns=%d", 1<<(c.scale-c.scale/2))},
		}[c.Model]
		if _, _, err := s.call(ctx, 0, append([]string{"generate", c.Model, "-o", g.text}, size...)...); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(g.text)
	if err != nil {
		return nil, err
	}
	d, _, err := s.call(ctx, 0, "ingest", g.text, "--order=degree", "-o", g.store)
	if err != nil {
		return nil, err
	}
	g.nodes, g.entries, g.bytes = d.Nodes, d.Entries, info.Size()
	list := base + ".ids"
	if _, _, err := s.call(ctx, 0, "info", g.store, "--ids", list); err != nil {
		return nil, err
	}
	return g, g.writeLists(list, s.Columns)
}

// writeLists writes the lists of ids.
func (g *scalingGraph) writeLists(list string, columns []int) error {
	data, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	g.ids = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	lists := map[string]int{g.rows: 300}
	for _, k := range columns {
		g.columns[k] = fmt.Sprintf("%s.%d.ids", g.store, k)
		lists[g.columns[k]] = k
	}
	for path, length := range lists {
		text := strings.Join(g.ids[:min(length, len(g.ids))], "\n") + "\n"
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// writeProblem writes the labels of a cell, of nodes at equal distances in classes of consecutive ids, and its attributes, and
// returns the flags that read them.
func (g *scalingGraph) writeProblem(c *Cell) ([]string, error) {
	flags := []string{"--labels", g.store + ".labels.tsv"}
	labels := min(cmp.Or(c.Labels, (len(g.ids)+19)/20), len(g.ids))
	var text strings.Builder
	for k := range labels {
		i := k * len(g.ids) / labels
		fmt.Fprintf(&text, "%s\tclass%d\n", g.ids[i], c.Classes*i/len(g.ids))
	}
	if err := os.WriteFile(flags[1], []byte(text.String()), 0o666); err != nil || c.Attributes == 0 {
		return flags, err
	}
	text.Reset()
	text.WriteString("node")
	for j := range c.Attributes {
		fmt.Fprintf(&text, "\tx%d", j)
	}
	for i, id := range g.ids {
		text.WriteString("\n" + id)
		for j := range c.Attributes {
			h := uint64(i*c.Attributes+j+1) * 0x9e3779b97f4a7c15
			fmt.Fprintf(&text, "\t0.%03d", (h^h>>29)>>40%1000)
		}
	}
	path := g.store + ".attributes.tsv"
	return append(flags, "--node-features", path), os.WriteFile(path, []byte(text.String()+"\n"), 0o666)
}

// measureLimits measures this machine, and sets the limits of cells: the time in which it gathers the same number of random
// rows of the same width, and from disk the time of decoding if that is longer.
func (s *Scaling) measureLimits(r *ScalingReport) {
	for _, threads := range s.Threads {
		r.Limits = append(r.Limits, newLimit(&r.Machine, threads))
	}
	rates := map[[3]int]float64{}
	for _, c := range r.Cells {
		_, rowBytes := jobOf(c.Job).row(c.Columns)
		if c.Sweeps == 0 || rowBytes == 0 || c.Job == "decode" {
			continue
		}
		key := [3]int{c.Threads, int(c.Nodes), rowBytes}
		if rates[key] == 0 {
			rates[key] = gatherRate(key[0], key[1], key[2])
		}
		work := float64(c.Entries) * float64(c.Sweeps)
		c.LimitSeconds = work * float64(rowBytes) / rates[key]
		for _, decoded := range r.Cells {
			if c.Source == "disk" && decoded.Job == "decode" && decoded.Graph == c.Graph && decoded.Threads == c.Threads {
				c.LimitSeconds = max(c.LimitSeconds, float64(c.Sweeps)*decoded.SecondsMin)
			}
		}
		c.LimitShare = c.LimitSeconds / c.SecondsMin
	}
}
