//go:build !amd64 || noasm

package simd

import "testing"

// eachVariant runs a test with every form of the loops the processor has.
func eachVariant(t *testing.T, test func(*testing.T)) { t.Run("plain", test) }
