// Package system returns the limit on the memory of this process and its peak resident memory.
package system

import (
	"os"
	"runtime/debug"
)

// AddressLimit is what shells call a limit on the address space.
const AddressLimit = "ulimit -v"

const (
	// usualSpace is about what the runtime takes of an address space without a
	// limit; below one it may begin with less.
	usualSpace = 1800 << 20

	// threadBytes of it are for the stacks and pools of threads that have not begun
	// yet.
	threadBytes = 256 << 20
)

// availableSpace returns the address space that is left for data, and whether it is limited.
func availableSpace() (bytes int64, limited bool) {
	limit, used := addressSpace()
	return limit - used - threadBytes, limit > 0
}

// SpaceFor returns the limit on the address space, and the least limit that leaves the given
// bytes for data; needed is 0 if the limit is enough.
func SpaceFor(bytes int64) (limit, needed int64) {
	limit, used := addressSpace()
	if space := limit - used - threadBytes; limit > 0 && space < bytes {
		needed = max(used, usualSpace) + threadBytes + bytes
	}
	return limit, needed
}

// Memory returns the memory of the machine, or the limit of its container if that is less, in
// bytes; 0 if unknown.
func Memory() int64 {
	limit, _ := machineOrContainer()
	return limit
}

// machineOrContainer returns the lower limit and its name.
func machineOrContainer() (limit int64, by string) {
	limit, by = machine(), "machine"
	if c := container(); c > 0 && c <= limit {
		return c, "container"
	}
	return limit, by
}

// AllowedMemory returns the least of the memory of the machine, the limit of its container, the
// address space that is left and GOMEMLIMIT, in bytes, and the name of that limit; 0 if unknown.
func AllowedMemory() (limit int64, by string) {
	limit, by = machineOrContainer()
	if space, limited := availableSpace(); limited && (limit == 0 || space < limit) {
		limit, by = max(1, space), AddressLimit
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		if own := debug.SetMemoryLimit(-1); limit == 0 || own < limit {
			limit, by = own, "GOMEMLIMIT"
		}
	}
	return limit, by
}
