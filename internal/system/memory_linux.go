package system

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Root is the directory that contains /proc and /sys; "" is the root of the file system. Tests replace it.
var Root = ""

// PeakMemory returns the largest resident memory of this process so far, in bytes.
func PeakMemory() int64 {
	return kilobytes("/proc/self/status", "VmHWM:")
}

// machine returns the memory of the machine in bytes, or 0 if it is unknown.
func machine() int64 {
	return kilobytes("/proc/meminfo", "MemTotal:")
}

// container returns the smallest memory limit, in bytes, of the control group of this process and its parent groups. It
// returns 0 if there is no limit. It reads both versions of control groups, because a machine may mount version 1 for
// memory and version 2 for other controllers. It always reads the root group, too: inside a container the path of the
// group may be the path on the host, which is not visible, while the root is the group of the container.
func container() int64 {
	groups, err := os.ReadFile(Root + "/proc/self/cgroup")
	if err != nil {
		return 0
	}
	var limit int64
	for line := range bytes.Lines(groups) {
		// hierarchy:controllers:path, where version 2 is hierarchy 0 without controllers
		fields := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		switch {
		case len(fields) < 3:
		case fields[0] == "0" && fields[1] == "":
			limit = smaller(limit,
				leastOf("/sys/fs/cgroup", fields[2], "/memory.max"))
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			limit = smaller(limit,
				leastOf("/sys/fs/cgroup/memory", fields[2],
					"/memory.limit_in_bytes"))
		}
	}
	return smaller(limit, number("/sys/fs/cgroup/memory/memory.limit_in_bytes", ""))
}

// leastOf returns the smallest limit in the given file of a group, in the directory root, and of its parent groups. 0
// means no limit.
func leastOf(root, group, file string) (limit int64) {
	group = strings.TrimRight(group, "/")
	for {
		limit = smaller(limit, number(root+group+file, ""))
		up := strings.LastIndexByte(group, '/')
		if up < 0 {
			return limit
		}
		group = group[:up]
	}
}

// addressSpace returns the limit on the address space and the part in use, in bytes. Without a limit it returns zeros
// and does not read the part in use, because reading takes longer than a short command.
func addressSpace() (limit, used int64) {
	limit = number("/proc/self/limits", "Max address space")
	if limit == 0 {
		return 0, 0
	}
	return limit, kilobytes("/proc/self/status", "VmSize:")
}

// smaller returns the smaller of two limits. A number ≤ 0 means no limit.
func smaller(a, b int64) int64 {
	const none = 1 << 60 // the kernel writes larger numbers for no limit
	switch {
	case b <= 0 || b > none:
		return a
	case a <= 0:
		return b
	}
	return min(a, b)
}

func kilobytes(file, name string) int64 {
	return number(file, name) << 10
}

// number returns the number that follows name in the first line of the file that begins with name. It returns 0 if
// there is no such line, or if a word such as "max" follows.
func number(file, name string) int64 {
	text, err := os.ReadFile(Root + file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if tail, hasPrefix := strings.CutPrefix(line, name); hasPrefix &&
			strings.TrimSpace(tail) != "" {
			n, _ := strconv.ParseInt(strings.Fields(tail)[0], 10, 64)
			return n
		}
	}
	return 0
}
