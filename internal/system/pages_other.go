//go:build !linux

package system

import "unsafe"

// Make returns a slice of n zeros. Huge pages are requested on Linux only.
func Make[E any](n int) []E {
	var e E
	making.Lock()
	defer making.Unlock()
	reclaim(n * int(unsafe.Sizeof(e)))
	return make([]E, n)
}

// Advise does nothing, because huge pages are requested on Linux only.
func Advise[E any]([]E) {}
