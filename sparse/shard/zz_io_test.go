package shard

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestIO(t *testing.T) {
	dir := os.Getenv("AB")
	if dir == "" {
		t.Skip()
	}
	runtime.LockOSThread()
	f := must(os.Open(dir + "/60da8eccc20c970b-0000.shard"))
	size := 57048659
	huge := must(unix.Mmap(-1, 0, 4<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS))
	for _, step := range []int{4 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20} {
		for _, name := range []string{"go", "mmapbuf", "direct", "crc", "pread+crc", "advise"} {
			buf := make([]byte, step+4096)[:step]
			if name != "go" {
				buf = huge[:step]
			}
			best := 1e9
			for range 10 {
				s := cpu()
				for at := 0; at+step <= size; at += step {
					switch name {
					case "go", "mmapbuf":
						f.ReadAt(buf, int64(at))
					case "direct":
						unix.Pread(int(f.Fd()), buf, int64(at))
					case "crc":
						frameSum(buf)
					case "pread+crc":
						f.ReadAt(buf, int64(at))
						frameSum(buf)
					case "advise":
						unix.Fadvise(int(f.Fd()), int64(at), int64(step), unix.FADV_WILLNEED)
					}
				}
				best = min(best, cpu()-s)
			}
			fmt.Printf("%-10s %8d %6.2f ms  align %d\n", name, step, best, uintptr(unsafe.Pointer(&buf[0]))%64)
		}
	}
}
