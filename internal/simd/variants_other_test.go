//go:build !amd64 || noasm

package simd

// variants are the forms of the loops that the processor has.
func variants() []variant { return []variant{{"plain", func() {}}} }

// hasNumbers reports whether Numbers reads anything.
func hasNumbers() bool { return false }
