package shard

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/heatwalk/heatwalk/sparse"
)

func cpu() float64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return float64(ts.Sec)*1e3 + float64(ts.Nsec)/1e6
}

func TestAB(t *testing.T) {
	dir := os.Getenv("AB")
	if dir == "" {
		t.Skip()
	}
	runtime.LockOSThread()
	k, _ := strconv.Atoi(os.Getenv("K"))
	mem := must(Open(bg, dir, &Options{Workers: 1}))
	disk := must(Open(bg, dir, &Options{Workers: 1, Stream: true}))
	raw := must(sparse.Load(bg, mem, 1))
	n, _ := raw.Dims()
	x, y := sparse.NewBlock[float32](n, k), sparse.NewBlock[float32](n, k)
	for i := range x.Data {
		x.Data[i] = float32(i%17 + 1)
	}
	nothing := func(int, sparse.Panel) error { return nil }
	names := []string{"raw", "coded", "disk", "decode", "read+decode"}
	ops := []func(){}
	for _, m := range []sparse.Matrix{raw, mem, disk} {
		op := &sparse.Operator[float32]{A: m, Workers: 1}
		ops = append(ops, func() { must(0, op.ApplyTo(bg, y, x)) })
	}
	ops = append(ops, func() { must(0, mem.Sweep(bg, 1, nothing)) }, func() { must(0, disk.Sweep(bg, 1, nothing)) })
	best := make([]float64, len(ops))
	reps, _ := strconv.Atoi(os.Getenv("REPS"))
	if os.Getenv("ONLY") != "" {
		i, _ := strconv.Atoi(os.Getenv("ONLY"))
		for range reps {
			ops[i]()
		}
		return
	}
	for r := range reps + 1 {
		for i, op := range ops {
			s := cpu()
			op()
			d := cpu() - s
			if r > 0 && (best[i] == 0 || d < best[i]) {
				best[i] = d
			}
		}
	}
	for i, nm := range names {
		fmt.Printf("%-12s %7.2f ms cpu  %+.1f\n", nm, best[i], best[i]-best[0])
	}
}
