package budget

const (
	// programBytes is the resident memory of a run without data, with allocations that are too small to be estimated.
	programBytes = 24 << 20

	// FileBytes is the part of programBytes that consists of pages of the program's file and its variables. The runtime's
	// memory limit does not include it.
	FileBytes = 20 << 20

	// For every heapShare bytes of data the heap has one further byte: half of these bytes are tables and garbage, and half
	// is memory that the runtime returned and huge pages bring back.
	heapShare = 8

	// LeastResident is the smallest estimate of a run. A smaller heap limit would make small runs spend most time on garbage
	// collection.
	LeastResident = 64 << 20

	// LeastLimit is the smallest memory limit that a user may set. A smaller limit would need an account of every small
	// table.
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
