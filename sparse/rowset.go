package sparse

import "github.com/RoaringBitmap/roaring/v2"

// rowSet returns the rows i < n with has(i), compressed to at most 8 KiB for each 65,536 rows.
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
