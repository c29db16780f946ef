// Package speed predicts the time of a job from its work and the speed of the machine, which
// [Measure] finds in half a second and keeps in a file.
package speed

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// Machine is the speed of one processor.
type Machine struct {
	Gather float64 `json:"gather_seconds"` // for an entry and a column of a sweep
	Text   float64 `json:"text_seconds"`   // for a byte of an edge list, to parse and to sort it
}

// rowColumn is the time for a row and a column in that for an entry and a column, as measured in
// label propagation and beliefs on block models.
const rowColumn = 20

// Seconds returns the time of a job on the given number of processors.
func (m Machine) Seconds(w sparse.Work, processors int) float64 {
	return m.Gather * (w.EntryColumns + rowColumn*w.RowColumns) / float64(max(1, processors))
}

// kept is the content of the file in the cache folder.
type kept struct {
	CPU     string `json:"cpu"`
	Version string `json:"version"`
	Machine
}

// Measure returns the speed of this machine: that which an earlier run of the same version on the
// same processor has kept in path, or else a measurement, which it keeps. An empty path keeps
// nothing. Errors of the file are ignored, because a measurement takes its place.
func Measure(path, version string) Machine {
	now := kept{CPU: processor(), Version: version}
	if path == "" {
		return measured()
	}
	var before kept
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &before) == nil &&
		before.CPU == now.CPU && before.Version == now.Version && before.Gather > 0 && before.Text > 0 {
		return before.Machine
	}
	now.Machine = measured()
	if text, err := json.Marshal(now); err == nil && os.MkdirAll(filepath.Dir(path), 0o777) == nil {
		if file, err := durable.NewFile(durable.OS, path); err == nil {
			defer file.Abort()
			if _, err := file.Write(append(text, '\n')); err == nil {
				_ = durable.Commit(nil, file)
			}
		}
	}
	return now.Machine
}

// processor returns the model of the processor, and the system.
func processor() string {
	model := ""
	text, _ := os.ReadFile("/proc/cpuinfo") // of Linux
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	return strings.TrimSpace(model + " " + runtime.GOOS + "/" + runtime.GOARCH)
}

// measured measures the speed of one processor. Each loop runs for a few milliseconds at a time, and
// the fastest time counts, because others may use the machine too.
func measured() Machine {
	const (
		rows, columns = 1 << 18, 8 // 16 MiB, more than a cache of the core
		entries       = 1 << 16
		lines         = 1 << 14
	)
	rng := rand.New(rand.NewPCG(1, 2))
	x := simd.Rows[float64]{Data: make([]float64, rows*columns), Stride: columns}
	for i := range x.Data {
		x.Data[i] = 1
	}
	const length = 16 // entries of a row
	ptr := make([]int64, entries/length+1)
	scale := make([]float64, entries/length)
	for i := range scale {
		ptr[i+1], scale[i] = ptr[i]+length, 1
	}
	col := make([]uint32, entries)
	var text bytes.Buffer
	for i := range col {
		// Columns of low numbers are frequent, as those of hubs are.
		col[i] = uint32(rng.Float64() * rng.Float64() * rows)
	}
	for range lines {
		text.WriteString(strconv.Itoa(rng.IntN(1 << 20)))
		text.WriteByte('\n')
	}
	dst := simd.Rows[float64]{Data: make([]float64, entries/length*columns), Stride: columns}
	gather := fastest(func() { simd.Gather(dst, columns, scale, x, ptr, col, nil) })
	numbers := make([]uint32, 0, lines)
	var count [1 << 10]uint32
	parse := fastest(func() {
		numbers = numbers[:0]
		n := uint32(0)
		for _, c := range text.Bytes() {
			if c == '\n' {
				numbers, n = append(numbers, n), 0
				continue
			}
			n = 10*n + uint32(c-'0')
		}
		for _, n := range numbers {
			count[n>>10]++
		}
	})
	return Machine{Gather: gather / (entries * columns), Text: textSteps * parse / float64(text.Len())}
}

// textSteps is the time of an ingest in that of parsing its text once, as measured on edge lists of
// 50 to 250 MB.
const textSteps = 8

// fastest returns the seconds of the fastest of the calls of do during a quarter of a second.
func fastest(do func()) float64 {
	best := time.Hour
	for begin := time.Now(); time.Since(begin) < 250*time.Millisecond; {
		start := time.Now()
		do()
		best = min(best, time.Since(start))
	}
	return best.Seconds()
}
