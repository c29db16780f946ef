package compute

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/bench"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/param"
)

// Program returns the path of this program, which runs each job in a separate process.
var Program = os.Executable

type scalingDocument struct {
	Build shell.Build `json:"build"`
	Date  string      `json:"date"`
	*bench.ScalingReport
	shell.Closing
}

type scalingOptions struct {
	bench.Scaling
	inputs              shell.Inputs
	page, graphs, cells string
	jobs, budget        string
	peers               []string
	mpi                 string
	lists               [7]string // values of scalingLists
}

// scalingLists are the flags of the lists in [bench.Scaling].
var scalingLists = [7]struct {
	name, usual, usage string
	numbers            param.Range
}{
	{"scales", "12..20", "graphs of 2^scale nodes, `A..B` or a list", param.Range{Least: 1, Most: 32}},
	{"threads", usualThreads(), "`LIST` of numbers of threads", param.Range{Least: 1, Most: 4096}},
	{"columns", "1,8,16", "`LIST` of numbers of columns", param.Range{Least: 1, Most: 4096}},
	{"labels", "0", "`LIST` of numbers of labelled nodes for classify, 0 for every twentieth", param.Range{Most: 1 << 31}},
	{"classes", "5", "`LIST` of numbers of classes for classify", param.Range{Least: 2, Most: 1 << 16}},
	{"processes", "0", "`LIST` of numbers of processes that share the graph, 0 without MPI", param.Range{Most: 4096}},
	{"attributes", "0", "`LIST` of numbers of attributes of a node for classify", param.Range{Most: 1 << 16}},
}

// usualThreads returns the powers of two below the number of processors, and this number.
func usualThreads() (list string) {
	for n := 1; n < runtime.NumCPU(); n *= 2 {
		list += strconv.Itoa(n) + ","
	}
	return list + strconv.Itoa(runtime.NumCPU())
}

func newScalingBench(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "scaling -o PAGE.html", "Measure how jobs grow with graphs, columns and threads", checkScaling, runScaling)
	flags.AddOutput(&c.page, "output", "", "of the page: .html", shell.PageFormats)
	for i, l := range scalingLists {
		flags.StringVar(&c.lists[i], l.name, l.usual, l.usage)
	}
	flags.Lookup("threads").DefValue = "1,2,4… up to all"
	flags.StringVar(&c.jobs, "jobs", strings.Join(bench.ScalingJobs, ","), "`LIST` of jobs")
	flags.StringVar(&c.graphs, "graph", "rmat", "`LIST` of rmat, sbm, grid and edge lists")
	flags.StringArrayVar(&c.peers, "peer", nil, "another program, `NAME=COMMAND`; may be repeated")
	flags.AddText(&c.Against, "against", "`PROGRAM`, another build of heatwalk that runs each cell in turn, for a table of ratios")
	flags.StringVar(&c.mpi, "mpi", "mpirun -n {processes} heatwalk-mpi", "`COMMAND` that starts heatwalk-mpi for --processes")
	flags.StringVar(&c.budget, "budget", "10m", "`TIME` after which no cell runs, such as 90s, 10m or 2h")
	flags.AddText(&c.cells, "continue", "`FILE` of finished cells, which are not measured again; each new one is added")
	c.inputs.DeclareTemp(flags)
	return cmd
}

func checkScaling(line *shell.CommandLine, c *scalingOptions, _ []string) {
	line.Refuse(true, "dry-run", "the time of cells is not known before they run; leave it out, because --budget limits the time")
	c.Lists = map[string][]int{}
	for i, l := range scalingLists {
		text := c.lists[i]
		number := func(s string) (int, error) { return shell.ParseNumber[int](s, l.numbers, "N") }
		if low, high, isRange := strings.Cut(text, ".."); isRange && l.name == "scales" {
			first, err := number(low)
			last, problem := number(high)
			text = ""
			for n := first; n <= last && err == nil && problem == nil; n++ {
				text += "," + strconv.Itoa(n)
			}
			text = strings.TrimPrefix(text, ",")
		}
		var list []int
		if err := shell.ParseList(&list, text, number); err != nil {
			line.Problem("--"+l.name, "%v", err)
		}
		c.Lists[l.name] = list
	}
	_ = shell.ParseList(&c.Graphs, c.graphs, func(s string) (string, error) {
		if !bench.IsModel(s) && !shell.IsThere(s) {
			line.Problem("--graph", "there is no file %s; give rmat, sbm, grid or an edge list", shell.Quote(s))
		}
		return s, nil
	})
	if err := shell.ParseList(&c.Jobs, c.jobs, func(s string) (string, error) {
		if !slices.Contains(bench.ScalingJobs, s) {
			return "", fmt.Errorf("%s is no job; give some of %s", shell.Quote(s), strings.Join(bench.ScalingJobs, ","))
		}
		return s, nil
	}); err != nil {
		line.Problem("--jobs", "%v", err)
	}
	c.MPI = strings.Fields(c.mpi)
	if slices.Max(append(c.Lists["processes"], 0)) > 0 && !strings.Contains(c.mpi, "{processes}") {
		line.Problem("--mpi", "%s does not name {processes}", shell.Quote(c.mpi))
	}
	if c.Against != "" && !shell.IsThere(c.Against) {
		line.Problem("--against", "there is no program %s; give the path of another build", shell.Quote(c.Against))
	}
	for _, text := range c.peers {
		name, command, _ := strings.Cut(text, "=")
		if name == "" || name == "heatwalk" || strings.TrimSpace(command) == "" {
			line.Problem("--peer", "%s is no peer; give NAME=COMMAND", shell.Quote(text))
		}
		c.Peers = append(c.Peers, bench.Peer{Name: name, Command: command})
	}
	var err error
	if c.Budget, err = time.ParseDuration(c.budget); err != nil || c.Budget <= 0 {
		line.Problem("--budget", "%s is no time; give one such as 90s, 10m or 2h", shell.Quote(c.budget))
	}
}

// runScaling measures all cells and writes the page.
func runScaling(run *shell.Session, c *scalingOptions, _ string) (err error) {
	v := &scalingDocument{Build: shell.ThisBuild(), Date: time.Now().UTC().Format(time.RFC3339)}
	out, err := run.BeginOutputs(c.page, shell.PageFormats)
	if err != nil {
		return err
	}
	if c.cells != "" {
		if c.Done, err = finishedCells(run, c.cells, v); err != nil {
			return err
		}
	}
	if c.Folder, err = run.MakeTempContent(&c.inputs, c.page); err != nil {
		return err
	}
	if c.Program, err = Program(); err != nil {
		return err
	}
	flags := run.Line.Command.Flags()
	for _, name := range []string{"seed", "max-memory"} {
		if f := flags.Lookup(name); f.Changed {
			c.Flags = append(c.Flags, "--"+name+"="+f.Value.String())
		}
	}
	stage := run.Progress.Begin("cells", 1, shell.Shares)
	c.Progress = func(done, total int64) { stage.Set(done*shell.Whole/max(1, total), shell.Whole) }
	c.Save = func(r *bench.ScalingReport) error {
		v.ScalingReport = r
		return run.WriteFile(c.cells, func(w io.Writer) error { return json.NewEncoder(w).Encode(v) })
	}
	if m := bench.ThisMachine(); m.Load > float64(m.Cores)/10 {
		run.Console.Warn("the machine is busy: %.1f running threads on %s; times are too long", m.Load, words.Counted(m.Cores, "processor"))
	}
	v.ScalingReport, err = c.Run(run.Context)
	if errors.Is(err, bench.ErrChecksum) {
		return shell.MachineError(err, "bench scaling", "%v; compare the results of both commands", err)
	}
	if err != nil {
		return err
	}
	if n := v.Noisy(); n > 0 {
		run.Console.Warn("repetitions of %s of %d differ by more than 20 %%; measure again on a quiet machine", words.Counted(n, "cell"), len(v.Cells))
	}
	page, err := run.BuildPage("scaling", v, c.graphs)
	if err != nil {
		return err
	}
	v.AddTo(page)
	if err := page.WriteHTML(out.Writer); err != nil {
		return err
	}
	for _, s := range page.Sections {
		for _, chart := range s.Charts {
			w, err := out.Companion(c.page, filepath.Ext(c.page), "-"+chart.Name+".svg")
			if err == nil {
				_, err = io.WriteString(w, chart.SVG(page.Series))
			}
			if err != nil {
				return err
			}
		}
	}
	if err := out.Publish(c.Scaling, nil); err != nil {
		return err
	}
	return run.Console.PrintResult(v, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s, %d left out, %s\n", c.page, words.Counted(len(v.Cells), "cell"), len(v.LeftOut), run.Console.Cost())
		if n := len(v.Ratios); n > 0 {
			order := sched.Order(n, func(a, b int) int { return cmp.Compare(v.Ratios[a].Ratio, v.Ratios[b].Ratio) })
			fmt.Fprintf(w, "seconds of this build divided by seconds of %s: %.2f to %.2f, median %.2f of %s\n", c.Against,
				v.Ratios[order[0]].Ratio, v.Ratios[order[n-1]].Ratio, v.Ratios[order[n/2]].Ratio, words.Counted(n, "cell"))
		}
		counts := map[string]int{}
		for _, a := range v.LeftOut {
			counts[a.Reason]++
		}
		for _, a := range v.LeftOut {
			switch n := counts[a.Reason]; {
			case n == 1:
				fmt.Fprintf(w, "  left out: %s: %s\n", a.Cell, a.Reason)
			case n > 1:
				fmt.Fprintf(w, "  left out: %s and %d more: %s\n", a.Cell, n-1, a.Reason)
			}
			delete(counts, a.Reason)
		}
	}, c.page)
}

// finishedCells reads the measured cells in the report of an earlier run. It returns nil if the
// file path does not exist, or if another build or another processor measured the cells.
func finishedCells(run *shell.Session, path string, now *scalingDocument) ([]*bench.Cell, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, shell.MachineError(err, path, "%s; name another file", shell.Cause(err))
	}
	old := new(scalingDocument)
	if err := json.Unmarshal(data, old); err != nil || old.ScalingReport == nil {
		return nil, shell.DataError(path, "it is no document of bench scaling; name another file")
	}
	if old.Build.Version != now.Build.Version || old.Build.Commit != now.Build.Commit || old.Machine.Processor != bench.ThisMachine().Processor {
		run.Console.Warn("%s: its cells are of another program or machine, and are measured again", path)
		return nil, nil
	}
	return old.Cells, nil
}
