package budget

const (
	// programBytes is the resident memory of a run without data: the program, its runtime, and allocations that are too small to be
	// estimated.
	programBytes = 24 << 20

	// FileBytes is the part of programBytes that consists of pages of the program's file and its variables. The runtime's memory
	// limit does not include it.
	FileBytes = 20 << 20

	// For every heapShare bytes of data the heap has one byte that is not data. Half of these bytes are tables and garbage that
	// is not collected yet. The other half is memory that the runtime returned and that huge pages bring back.
	heapShare = 8

	// LeastResident is the smallest estimate of a run. With a smaller heap limit, small runs would spend more time on garbage
	// collection than on their work.
	LeastResident = 64 << 20

	// LeastLimit is the smallest memory limit that a user may set. A smaller limit would fit only small graphs, and would
	// require an exact account of every small table.
	LeastLimit = 256 << 20
)

// Resident returns the resident memory of a run with data bytes of data, at least [LeastResident].
func Resident(data int64) int64 {
	return max(LeastResident, programBytes+data+data/heapShare)
}

// Data returns the bytes of data of a run with the given resident memory.
func Data(resident int64) int64 {
	return (resident - programBytes) / (heapShare + 1) * heapShare
}

// HeapLimit returns the runtime's memory limit for a run with data bytes of data. It is below
// [Resident], so that garbage is collected before the resident memory exceeds the estimate.
func HeapLimit(data int64) int64 {
	return Resident(data) - FileBytes - data/(2*heapShare)
}
