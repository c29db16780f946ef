//go:build !amd64 || noasm

package simd

func variants() []variant { return []variant{{"plain", func() {}}} }

func hasNumbers() bool { return false }
