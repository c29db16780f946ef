package pages

const (
	hugePage = 2 << 20

	// alignBytes is the size from which blocks begin where a huge page does:
	// what lies before the first one is on small pages, and the room that this
	// takes is never written.
	alignBytes = 8 << 20
)

// spareBytes is by how much memory of so many bytes is made larger, so that it can
// begin where a huge page does.
func spareBytes(bytes int) int { return int(Bytes(int64(bytes))) - bytes }

// Bytes returns the memory that [Make] takes for so many bytes.
func Bytes(bytes int64) int64 {
	if bytes < alignBytes {
		return bytes
	}
	return bytes + hugePage
}
