package system

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Root is where the files of the system are, "" for its own ones; tests have others.
var Root = ""

// PeakMemory returns the largest resident memory of this process so far, in
// bytes.
func PeakMemory() int64 {
	return kilobytes("/proc/self/status", "VmHWM:")
}

// Memory returns the memory of the machine, or of the container if that
// is less, in bytes; 0 if unknown.
func Memory() int64 {
	machine, container := kilobytes("/proc/meminfo", "MemTotal:"), container()
	if container > 0 && container < machine {
		return container
	}
	return machine
}

// container returns the memory limit of the control group of this
// process or of one above it, in bytes; 0 if there is none.
func container() int64 {
	groups, err := os.ReadFile(Root + "/proc/self/cgroup")
	if err != nil {
		return 0
	}
	var limit int64
	for line := range bytes.Lines(groups) {
		group, unified := strings.CutPrefix(strings.TrimSpace(string(line)), "0::")
		for unified {
			limit = smaller(limit, number("/sys/fs/cgroup"+group+"/memory.max", ""))
			up := strings.LastIndexByte(group, '/')
			if up < 0 {
				break
			}
			group = group[:up]
		}
	}
	return smaller(limit, number("/sys/fs/cgroup/memory/memory.limit_in_bytes", ""))
}

// addressSpace returns the limit on the address space of this process, in bytes, 0
// if there is none, and how much of it is taken.
func addressSpace() (limit, taken int64) {
	return number("/proc/self/limits", "Max address space"), kilobytes("/proc/self/status", "VmSize:")
}

func smaller(a, b int64) int64 {
	const none = 1 << 60 // what the kernel writes for no limit lies above
	switch {
	case b <= 0 || b > none:
		return a
	case a <= 0:
		return b
	}
	return min(a, b)
}

func kilobytes(file, name string) int64 { return number(file, name) << 10 }

// number returns the number behind a name at the beginning of a line, 0 if there is none, as
// where the word unlimited stands for it.
func number(file, name string) int64 {
	text, err := os.ReadFile(Root + file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, name); found && strings.TrimSpace(rest) != "" {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}
