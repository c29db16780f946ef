//go:build !linux

package cli

import "os"

// maxResident returns 0: it is not measured here.
func maxResident(*os.ProcessState) int64 { return 0 }
