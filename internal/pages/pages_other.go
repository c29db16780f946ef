//go:build !linux

package pages

import "unsafe"

// Make returns n zeros; other systems cannot be asked for huge pages.
func Make[E any](n int) []E {
	var e E
	making.Lock()
	defer making.Unlock()
	reclaim(n * int(unsafe.Sizeof(e)))
	return make([]E, n)
}

// Advise does nothing where the system cannot be asked.
func Advise[E any]([]E) {}
