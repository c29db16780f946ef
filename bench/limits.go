package bench

import (
	"context"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
)

// Machine describes this machine. Fields that the system does not report are empty.
type Machine struct {
	Processor   string  `json:"processor,omitempty"`
	Cores       int     `json:"cores"`
	MemoryBytes int64   `json:"memory_bytes"`
	HugePages   string  `json:"huge_pages,omitempty"` // always, madvise or never
	Load        float64 `json:"load"`                 // mean number of running threads in the last minute
}

// ThisMachine describes this machine.
func ThisMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), MemoryBytes: system.Memory()}
	for line := range strings.Lines(textOf("/proc/cpuinfo")) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			m.Processor = strings.TrimSpace(value)
			break
		}
	}
	_, choice, _ := strings.Cut(textOf("/sys/kernel/mm/transparent_hugepage/enabled"), "[")
	m.HugePages, _, _ = strings.Cut(choice, "]")
	if fields := strings.Fields(textOf("/proc/loadavg")); len(fields) > 0 {
		m.Load, _ = strconv.ParseFloat(fields[0], 64)
	}
	return m
}

// textOf returns the text of a file, or "" if the file does not exist.
func textOf(path string) string {
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}

const lineBytes = 64

// gatherRate returns the bytes per second at which random rows of a block are read. It reads one number of each cache
// line, so that additions cost nothing, and four rows at a time to hide the latency of additions.
func gatherRate(threads, rows, rowBytes int) float64 {
	block := sparse.NewBlock[float32](rows, max(1, rowBytes/4))
	for i := range block.Data {
		block.Data[i] = 1 // gives every page memory
	}
	count := 1 << 16 / (1 + rowBytes/lineBytes) &^ 3
	places := make([]int, count*threads)
	sums := make([]uint32, lineBytes*threads)
	least := math.Inf(1)
	for turn := range 16 {
		for i := range places { // outside the timed loop, as column ids are known
			h := uint64(turn*len(places)+i+1) * 0x9e3779b97f4a7c15
			places[i] = int((h^h>>29)>>33*uint64(rows)>>31) * block.Stride
		}
		least = min(least, timeThreads(threads, func(thread int) {
			sums[lineBytes*thread] = readRows(block, places[thread*count:][:count])
		}))
	}
	return float64(count*threads*rowBytes) / least
}

// readRows returns the sum of one number of each cache line in the rows that begin at places.
func readRows(block *sparse.Block[float32], places []int) (sum uint32) {
	data := block.Data
	for ; len(places) >= 4; places = places[4:] {
		a, b, c, d := places[0], places[1], places[2], places[3]
		for j := 0; j < block.Cols; j += lineBytes / 4 {
			sum += math.Float32bits(data[a+j]) + math.Float32bits(data[b+j]) +
				math.Float32bits(data[c+j]) + math.Float32bits(data[d+j])
		}
	}
	return sum
}

// timeThreads returns the seconds until all threads are done.
func timeThreads(threads int, work func(thread int)) float64 {
	start := time.Now()
	_ = sched.Run(context.Background(), threads, threads, func(_, thread int) error {
		work(thread)
		return nil
	})
	return time.Since(start).Seconds()
}
