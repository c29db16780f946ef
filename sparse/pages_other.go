//go:build !linux

package sparse

// makeLarge returns n zeros; other systems cannot be asked for huge pages.
func makeLarge[E any](n int) []E { return make([]E, n) }
