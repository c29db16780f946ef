//go:build linux || darwin

package shell

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// waitForLoss returns true when the reader of a pipe or a socket is gone, and false if f is neither.
func waitForLoss(f *os.File) bool {
	list := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLHUP}}
	for {
		n, err := unix.Poll(list, -1)
		if !errors.Is(err, unix.EINTR) {
			return n > 0 && list[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		}
	}
}
