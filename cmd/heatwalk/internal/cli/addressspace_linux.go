package cli

import (
	"strconv"
	"syscall"
)

const (
	addressSpace = 9     // RLIMIT_AS
	leastSpace   = 2.2e9 // bytes; with less the runtime or its threads die now and then
)

// init ends the program with one line if the limit on its address space (ulimit -v) is too small. Otherwise
// the runtime would end it with a trace while it starts threads.
func init() {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(addressSpace, &limit); err != nil || limit.Cur >= leastSpace {
		return
	}
	syscall.Write(2, []byte("heatwalk: ulimit -v: "+strconv.FormatUint(limit.Cur/1e6, 10)+
		" MB of address space are too little for the program itself; allow 2.3 GB or more\n"))
	syscall.Exit(5)
}
