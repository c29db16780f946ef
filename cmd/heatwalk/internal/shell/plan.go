package shell

import (
	"errors"
	"io"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
)

// LeastLimit is the smallest --max-memory. Tests lower it, so that small inputs reach the limit.
var LeastLimit int64 = budget.LeastLimit

// LimitRuntime limits the memory of the runtime. It is a variable because tests run many commands in one
// process.
var LimitRuntime = system.Within

// Costs are the limits of memory of a run, and its plan.
type Costs struct {
	maxMemory int64  // 0: not given
	Memory    int64  // bytes to plan with; 0: not known
	libraries int64  // further bytes, for the libraries that connect several processes
	limitedBy string // name of the machine's limit
	Timed     bool   // no limit of the heap, because a benchmark would time collections

	DryRun      bool         // the run ends when it has been planned
	planned     *budget.Plan // nil: not yet
	Disk        int64        // bytes of the files of the run
	UnknownDisk bool         // Disk is not all of them
	reading     budget.Item  // memory of reading the input, freed before the run computes
	isShared    bool         // the process has other runs too, and a limit of the heap for all
}

// ReserveNumbers adds to the plan of a dry run an upper bound of the disk space of a table with numbers of each
// node and of the run file. In other runs it does nothing, because formatting all ids takes time.
func (costs *Costs) ReserveNumbers(ids Axis) {
	const line = 100 // bytes of the numbers of a line
	if costs.DryRun {
		costs.Disk += RunFileBytes + IDBytes(ids) + line*int64(ids.N)
	}
}

// limitMemory sets the memory limit: --max-memory, or most of the memory of the machine.
func (run *Session) limitMemory() error {
	if run.Costs.isShared && run.Costs.maxMemory == 0 {
		return nil // the server has limited the memory
	}
	if limit, needed := system.SpaceFor(budget.LeastResident); needed > 0 {
		return LimitError(system.AddressLimit, "%s of address space are too little for the program itself; allow %s or more",
			words.Bytes(limit), words.Bytes(needed))
	}
	limit, whose := system.AllowedMemory()
	run.Costs.limitedBy = whose
	if run.Costs.maxMemory == 0 {
		run.Costs.Memory = limit / 10 * 9
		return nil
	}
	if run.Costs.maxMemory < LeastLimit {
		return UsageError("--max-memory",
			"%s is less than any run may be limited to; allow 256MiB or more",
			words.Bytes(run.Costs.maxMemory))
	}
	run.Costs.Memory = run.Costs.maxMemory
	if limit > 0 && limit < run.Costs.Memory {
		run.Console.Warn("limit %s (%s) is used instead of %s", words.Bytes(limit), whose,
			words.Bytes(run.Costs.Memory))
		run.Costs.Memory = limit
	}
	heap := run.Costs.Memory - budget.FileBytes
	run.Costs.limitRuntime(heap, heap, budget.GraphPart)
	return nil
}

// DataLimit returns the number of bytes of data that a run can hold within the memory limit; 0 means no
// limit.
func (costs *Costs) DataLimit() int64 {
	if costs.Memory == 0 {
		return 0
	}
	return max(1, budget.Data(costs.Memory))
}

func (costs *Costs) NewPlan() *budget.Plan {
	return &budget.Plan{Limit: costs.DataLimit()}
}

var errPlanned = errors.New("planned")

// Begin limits the heap to the plan of a run. With --dry-run it ends the run.
func (costs *Costs) Begin(p *budget.Plan) error {
	costs.planned = p
	if costs.DryRun {
		return errPlanned
	}
	if costs.Timed {
		return nil
	}
	// Garbage grows up to the limit. The limit starts at half of the plan, which few runs hold at the same
	// time.
	costs.limitRuntime(budget.HeapLimit(p.Required()/2), budget.HeapLimit(p.Most()), p.Largest().What)
	return nil
}

// LimitHeap limits the heap to bytes of data; 0 means no limit.
func (costs *Costs) LimitHeap(bytes int64) {
	if bytes > 0 {
		costs.limitRuntime(budget.HeapLimit(bytes), budget.HeapLimit(bytes), budget.LabelPart)
	}
}

// limitRuntime limits the heap to bytes. Live data may raise the limit up to atMost. part names the largest
// part of the plan. In a process with several runs limitRuntime does nothing.
func (costs *Costs) limitRuntime(bytes, atMost int64, part string) {
	if !costs.isShared {
		LimitRuntime(bytes, atMost, part)
	}
}

type planDocument struct {
	Command       string        `json:"command"`
	MemoryBytes   int64         `json:"memory_bytes"`
	RequiredBytes int64         `json:"required_bytes"`
	LimitBytes    int64         `json:"limit_bytes"`
	DiskBytes     *int64        `json:"disk_bytes"` // nil: unknown before the run
	Sweeps        *int          `json:"sweeps"`     // nil: unknown before the run
	Items         []budget.Item `json:"items"`
	Closing
}

// printPlan prints memory, disk and sweeps of a run.
func (run *Session) printPlan() error {
	run.OutputState = ""
	costs := run.Costs
	items := costs.planned.Items()
	bytes := costs.planned.Required()
	if costs.reading.Bytes > bytes {
		items = []budget.Item{costs.reading}
		bytes = costs.reading.Bytes
	}
	required := budget.Resident(bytes)
	most := budget.Resident(max(bytes, costs.planned.Most()))
	doc := &planDocument{Command: strings.TrimPrefix(run.Line.Command.CommandPath(), "heatwalk "),
		MemoryBytes: most, RequiredBytes: required, LimitBytes: costs.Memory,
		Items: append(items, budget.Item{What: "program and heap", Bytes: required - bytes})}
	const unknown = "unknown before the run"
	disk := unknown
	if !costs.UnknownDisk {
		size := costs.Disk + costs.planned.Disk
		doc.DiskBytes = &size
		disk = words.Bytes(size)
	}
	sweeps := unknown
	if costs.planned.Sweeps != budget.UnknownSweeps {
		doc.Sweeps = &costs.planned.Sweeps
		sweeps = words.Count(*doc.Sweeps)
	}
	return run.Console.PrintResult(doc, func(io.Writer) {
		var lines [][2]string
		for _, item := range doc.Items {
			lines = append(lines, [2]string{item.What, words.Bytes(item.Bytes)})
		}
		total := "at most " + words.Bytes(most)
		if costs.Memory > 0 {
			total += " of " + words.Bytes(costs.Memory)
		}
		PrintSheet(run.Console.Stdout, 28, append(lines, [2]string{"required memory", words.Bytes(required)}, [2]string{"memory", total},
			[2]string{"disk", disk}, [2]string{"sweeps", sweeps}))
	})
}
