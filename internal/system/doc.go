// Package system tells how much memory the system lets this process have, and how much
// it has had.
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

// addressRoom returns how much of a limit on the address space there is for data.
func addressRoom() (bytes int64, limited bool) {
	limit, taken := addressSpace()
	return limit - taken - threadBytes, limit > 0
}

// SpaceFor returns the limit on the address space and, where that leaves less than so
// many bytes for data, the least that does; 0 where it leaves enough.
func SpaceFor(bytes int64) (limit, needed int64) {
	limit, taken := addressSpace()
	if room, limited := addressRoom(); limited && room < bytes {
		needed = max(taken, usualSpace) + threadBytes + bytes
	}
	return limit, needed
}

// AllowedMemory returns the least of what the machine has, its container allows, a limit on
// the address space leaves and GOMEMLIMIT says, in bytes, and which of them it is; 0 if
// unknown.
func AllowedMemory() (limit int64, by string) {
	limit, by = Memory(), "machine"
	if limit > 0 && limit == container() {
		by = "container"
	}
	if room, limited := addressRoom(); limited && (limit == 0 || room < limit) {
		limit, by = max(1, room), AddressLimit
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		if own := debug.SetMemoryLimit(-1); limit == 0 || own < limit {
			limit, by = own, "GOMEMLIMIT"
		}
	}
	return limit, by
}
