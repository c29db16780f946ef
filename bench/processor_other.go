//go:build !unix

package bench

import "os"

func processorSeconds() float64 { return 0 }

func peakMemory(*os.ProcessState) int64 { return 0 }
