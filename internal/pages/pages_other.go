//go:build !linux

package pages

// Make returns n zeros; other systems cannot be asked for huge pages.
func Make[E any](n int) []E { return make([]E, n) }

// Advise does nothing where the system cannot be asked.
func Advise[E any]([]E) {}
