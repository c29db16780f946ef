package sparse

import "github.com/RoaringBitmap/roaring/v2"

// rowSet returns the set of the rows i < n for which has(i) holds, compressed: at most
// 8 KiB for each 65,536 rows, and next to nothing where they follow each other. Cost:
// n calls.
func rowSet(n int, has func(i int) bool) *roaring.Bitmap {
	set := roaring.New()
	batch := make([]uint32, 0, 1<<12)
	for i := range n {
		if !has(i) {
			continue
		}
		if len(batch) == cap(batch) {
			set.AddMany(batch)
			batch = batch[:0]
		}
		batch = append(batch, uint32(i))
	}
	set.AddMany(batch)
	set.RunOptimize()
	return set
}
