// Package speed predicts the time of a job from its work and the speed of the machine, which
// [Measure] finds in less than a second and keeps in a file.
package speed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
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
	Near   float64 `json:"near_seconds"`   // for an entry and a column of a sweep that gathers from a block in the cache
	Far    float64 `json:"far_seconds"`    // the same from a block that is larger than most caches
	Decode float64 `json:"decode_seconds"` // for an entry of a frame, to check and to decode it
	Text   float64 `json:"text_seconds"`   // for a byte of an edge list, to parse and to sort it
}

// Job is a job of known work on a graph.
type Job struct {
	sparse.Work
	Rows     int64 // of the blocks that sweeps gather from
	RowBytes int   // of a row of these blocks; 0: not known
	Copied   int64 // entries that are copied into memory
	Coded    bool  // every sweep decodes frames, from memory or from disk
}

// rowColumn is the time for a row and a column in that for an entry and a column of a block of 16 MiB,
// as measured in label propagation and beliefs on block models.
const rowColumn = 20

// The times to copy an entry into memory, with the search for a layout, and to read, check and decode one in a
// sweep over frames, in that to decode it again and again; measured on R-MAT graphs with 31 and 128 million
// entries.
const (
	copySteps  = 64
	frameSteps = 3
)

const (
	columnBytes = 8  // of a column of a row
	lineBytes   = 64 // of a line of the cache; wider rows are read one line after the other
	slabBytes   = 32 // of a row of a slab, where memory is too short for a copy and the width is not known
)

// Seconds returns the time of a job on the given number of processors. A file that the system does not
// keep in memory takes longer.
func (m Machine) Seconds(j *Job, processors int) float64 {
	rowBytes := cmp.Or(j.RowBytes, lineBytes)
	seconds := m.gather(float64(j.Rows)*float64(min(rowBytes, lineBytes)))*j.EntryColumns +
		m.gather(math.Sqrt(nearBytes*farBytes))*rowColumn*j.RowColumns +
		m.Decode*copySteps*float64(j.Copied)
	if j.Coded {
		columns := float64(cmp.Or(j.RowBytes, slabBytes)) / columnBytes
		seconds += m.Decode * frameSteps * j.EntryColumns / columns
	}
	return seconds / float64(max(1, processors))
}

// The sizes of the blocks that are measured, and the largest size to which their times are extrapolated.
const (
	nearBytes = 2 << 20
	farBytes  = 128 << 20
	mostBytes = 512 << 20
)

// gather returns the time for an entry and a column of a block of the given size: between the measured
// sizes, and a little beyond, it is about a power of the size.
func (m Machine) gather(bytes float64) float64 {
	bytes = max(nearBytes, min(bytes, mostBytes))
	return m.Near * math.Pow(m.Far/m.Near, math.Log(bytes/nearBytes)/math.Log(farBytes/nearBytes))
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
		before.CPU == now.CPU && before.Version == now.Version && before.Near > 0 && before.Far > 0 && before.Decode > 0 && before.Text > 0 {
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

// measured measures the speed of one processor in less than a second. Each loop runs for a few milliseconds
// at a time, and the fastest time counts, because others may use the machine too.
func measured() Machine {
	rng := rand.New(rand.NewPCG(1, 2))
	return Machine{Near: gatherTime(rng, nearBytes), Far: gatherTime(rng, farBytes), Decode: decodeTime(rng), Text: textTime(rng)}
}

// gatherTime returns the time for an entry and a column of sweeps over a block of the given size.
func gatherTime(rng *rand.Rand, bytes int) float64 {
	const (
		columns = 8
		length  = 16      // entries of a row
		entries = 1 << 20 // enough that the lines which they read do not stay in the cache
	)
	b := sparse.NewBlock[float64](bytes/(8*columns), columns)
	for i := range b.Rows {
		b.Row(i)[0] = 1 // so that the system allocates it
	}
	x := simd.Rows[float64]{Data: b.Data, Stride: b.Stride}
	ptr, scale := make([]int64, entries/length+1), make([]float64, entries/length)
	for i := range scale {
		ptr[i+1], scale[i] = ptr[i]+length, 1
	}
	col := make([]uint32, entries)
	for i := range col {
		// Columns of low numbers are frequent, as those of hubs are.
		col[i] = uint32(rng.Float64() * rng.Float64() * float64(b.Rows))
	}
	dst := simd.Rows[float64]{Data: make([]float64, entries/length*columns), Stride: columns}
	return fastest(func() { simd.Gather(dst, columns, scale, x, ptr, col, nil) }) / (entries * columns)
}

// decodeTime returns the time for an entry of a frame.
func decodeTime(rng *rand.Rand) float64 {
	const entries, slack, perEntry = 1 << 16, 68, 2 // bytes
	selectors, data := make([]byte, entries/4+slack), make([]byte, perEntry*entries+slack)
	for i := range selectors {
		selectors[i] = byte(rng.Uint32())
	}
	ids := make([]uint32, entries+16)
	return fastest(func() {
		simd.Checksum(0, data)
		simd.Decode(ids, entries, selectors, data, [4]uint8{4, 8, 12, 16}, 20)
	}) / entries
}

// textSteps is the time of an ingest in that of parsing its text once, as measured on edge lists of
// 50 MB to 1 GB.
const textSteps = 8

// textTime returns the time of an ingest for a byte of text.
func textTime(rng *rand.Rand) float64 {
	const lines = 1 << 14
	var text bytes.Buffer
	for range lines {
		text.WriteString(strconv.Itoa(rng.IntN(1 << 20)))
		text.WriteByte('\n')
	}
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
	return textSteps * parse / float64(text.Len())
}

// fastest returns the seconds of the fastest of the calls of do during an eighth of a second.
func fastest(do func()) float64 {
	best := time.Hour
	for begin := time.Now(); time.Since(begin) < 125*time.Millisecond; {
		start := time.Now()
		do()
		best = min(best, time.Since(start))
	}
	return best.Seconds()
}
