package rlimit

import "syscall"

// needed is how many files a program must be able to open beside those that it
// is given: two of the runtime, and what a command holds while it makes a
// temporary directory and removes it again. What needs more says so itself.
const needed = 8

func init() {
	if n := free(); n < needed {
		syscall.Write(2, []byte("heatwalk: too many open files: "+string('0'+rune(n))+" more are allowed; allow more with ulimit -n\n"))
		syscall.Exit(1)
	}
}

// free returns how many files can be opened, needed at the most.
func free() int {
	var open [needed]int
	n := 0
	for n < needed {
		f, err := syscall.Open("/", syscall.O_RDONLY, 0)
		if err == syscall.EMFILE {
			break
		}
		if err != nil {
			return needed // which says nothing about how many
		}
		open[n] = f
		n++
	}
	for _, f := range open[:n] {
		syscall.Close(f)
	}
	return n
}
