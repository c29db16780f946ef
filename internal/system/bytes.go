package system

const (
	hugePage = 2 << 20

	// alignBytes is the size from which blocks are aligned to huge pages, so that their first
	// bytes are not on small pages. The gap before an aligned block is never written.
	alignBytes = 8 << 20
)

// spareBytes returns the number of bytes that [Make] allocates in addition to a block of the given
// size, so that the block can begin at the boundary of a huge page.
func spareBytes(bytes int) int {
	if bytes < alignBytes {
		return 0
	}
	return hugePage
}
