//go:build petsc && cgo

package petsc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

const scenarioVariable = "HEATWALK_TEST_SCENARIO"

// A job of the scenario steps multiplies with a block of stepColumns columns of float32, as often as
// stepsVariable says.
const (
	stepsVariable = "HEATWALK_TEST_STEPS"
	stepColumns   = 16
)

func TestMain(m *testing.M) {
	names := os.Getenv(scenarioVariable)
	if names == "" {
		os.Exit(m.Run())
	}
	w, err := Start(nil)
	for name := range strings.SplitSeq(names, ",") {
		if err == nil {
			err = scenarios[name](w)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, name+":", err)
			os.Exit(1)
		}
	}
	w.Close()
}

var scenarios = map[string]func(w *World) error{
	"gather":    gather,
	"rows":      rows,
	"product":   product,
	"steps":     steps,
	"limits":    limits,
	"collector": collector,
	"killed":    killed,
	"exits":     exits,
	"hangs":     hangs,
	"close":     slowClose,
}

func job(t *testing.T, processes int, names string, env ...string) (output string, code int) {
	t.Helper()
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("mpirun is not installed, see scripts/mpi-packages")
	}
	cmd := exec.Command("mpirun", "-n", strconv.Itoa(processes), "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", os.Args[0])
	cmd.Env = append(os.Environ(), scenarioVariable+"="+names, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestScenarios(t *testing.T) {
	for processes := 1; processes <= 3; processes++ {
		t.Run(strconv.Itoa(processes), func(t *testing.T) {
			if out, code := job(t, processes, "gather,rows,product,limits,collector"); code != 0 {
				t.Errorf("exit code %d\n%s", code, out)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		scenario, timeout, message string
		code                       int
	}{
		{"killed", "1h", "exited on signal 9 (Killed)", 137},
		{"exits", "1h", "Exit code:    3", 3},
		{"hangs", "2s", "of 3: waited 2s for the other processes; one of them hangs or cannot be reached, or HEATWALK_MPI_TIMEOUT is too short", 1},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			if out, code := job(t, 3, c.scenario, timeoutVariable+"="+c.timeout); code != c.code || !strings.Contains(out, c.message) {
				t.Errorf("exit code %d, want %d with %q\n%s", code, c.code, c.message, out)
			}
		})
	}
}

func TestClose(t *testing.T) {
	for limit, want := range map[string]int{"1s": 1, "1m": 0} {
		if out, code := job(t, 2, "close", timeoutVariable+"="+limit); code != want {
			t.Errorf("limit %s: exit code %d\n%s", limit, code, out)
		}
	}
}

func TestTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{"": DefaultTimeout, "0": 0, "90s": 90 * time.Second} {
		t.Setenv(timeoutVariable, text)
		if got, err := timeout(); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	t.Setenv(timeoutVariable, "soon")
	if _, err := timeout(); err == nil || err.Error() != `HEATWALK_MPI_TIMEOUT: "soon" is not a time; set it to a time such as 90s or 2h, or to 0 for no limit` {
		t.Error(err)
	}
}

func gather(w *World) error {
	for _, n := range []int{0, 1, 7, 100_003} {
		v, dst := make([]float64, n), make([]float64, n*w.Size())
		for i := range v {
			v[i] = float64(w.Rank()*n + i)
		}
		w.AllGather(dst, v)
		for i := range dst {
			if dst[i] != float64(i) {
				return fmt.Errorf("AllGather of %d: %v at %d", n, dst[i], i)
			}
		}
		for root := range w.Size() {
			want := bytes.Repeat([]byte{byte(root + 1)}, n)
			data := make([]byte, n)
			if w.Rank() == root {
				copy(data, want)
			}
			w.Broadcast(root, data)
			if !bytes.Equal(data, want) {
				return fmt.Errorf("Broadcast of %d bytes from %d differs", n, root)
			}
		}
	}
	return nil
}

// offeredRows is 0 for one process.
func offeredRows(rank int) int { return 5 * ((rank + 1) % 3) }

// rows exchanges rows of every kind of size. Process r wants all rows of the next process backwards, its own rows, and
// one row of process 0 twice.
func rows(w *World) error {
	next := (w.Rank() + 1) % w.Size()
	var wanted []sparse.RemoteRow
	for i := offeredRows(next) - 1; i >= 0; i-- {
		wanted = append(wanted, sparse.RemoteRow{Rank: int32(next), Row: int32(i)})
	}
	for i := range offeredRows(w.Rank()) {
		wanted = append(wanted, sparse.RemoteRow{Rank: int32(w.Rank()), Row: int32(i)})
	}
	wanted = append(wanted, sparse.RemoteRow{Row: 3}, sparse.RemoteRow{Row: 3})
	e := w.NewExchange(offeredRows(w.Rank()), wanted)
	value := func(rank, row, at, size int) byte { return byte(rank*31 + row*7 + at*3 + size) }
	for _, size := range []int{1, 3, 4, 8, 12, 20, 64, 7 * 8, 4096, 64} {
		from, to := make([]byte, offeredRows(w.Rank())*size), make([]byte, len(wanted)*size)
		for i := range from {
			from[i] = value(w.Rank(), i/size, i%size, size)
		}
		e.Begin(from, to, size)
		e.End()
		for i := range to {
			r := wanted[i/size]
			if want := value(int(r.Rank), int(r.Row), i%size, size); to[i] != want {
				return fmt.Errorf("rows of %d bytes: byte %d of row %d is %d, want %d", size, i%size, i/size, to[i], want)
			}
		}
	}
	e.Close()
	nothing := w.NewExchange(0, nil)
	nothing.Begin(nil, nil, 8)
	nothing.End()
	nothing.Close()
	return nil
}

// ring is the share of a process of the cycle of n nodes with weights of 1/2.
type ring struct {
	n, lo, hi int
	neighbour sparse.Exchange
	ghosts    []float64
}

func newRing(w *World, n int) *ring {
	bound := func(rank int) int { return n * rank / w.Size() }
	r := &ring{n: n, lo: bound(w.Rank()), hi: bound(w.Rank() + 1), ghosts: make([]float64, 2)}
	remote := func(i int) sparse.RemoteRow {
		i = (i + n) % n
		rank := 0
		for bound(rank+1) <= i {
			rank++
		}
		return sparse.RemoteRow{Rank: int32(rank), Row: int32(i - bound(rank))}
	}
	r.neighbour = w.NewExchange(r.hi-r.lo, []sparse.RemoteRow{remote(r.lo - 1), remote(r.hi)})
	return r
}

func (r *ring) multiply(y, x []float64) error {
	r.neighbour.Begin(asBytes(x), asBytes(r.ghosts), 8)
	r.neighbour.End()
	for i := range y {
		left, right := r.ghosts[0], r.ghosts[1]
		if i > 0 {
			left = x[i-1]
		}
		if i+1 < len(x) {
			right = x[i+1]
		}
		y[i] = (left + right) / 2
	}
	return nil
}

// wave returns the rows of cos(2πci/n), an eigenvector of the ring with the eigenvalue cos(2πc/n).
func (r *ring) wave(c int) []float64 {
	v := make([]float64, r.hi-r.lo)
	for i := range v {
		v[i] = math.Cos(2 * math.Pi * float64(c) * float64(r.lo+i) / float64(r.n))
	}
	return v
}

func (r *ring) eigenvalue(c int) float64 { return math.Cos(2 * math.Pi * float64(c) / float64(r.n)) }

func farthest(a, b []float64, scale float64) (most float64) {
	for i := range a {
		most = max(most, math.Abs(a[i]-scale*b[i]))
	}
	return most
}

func product(w *World) error {
	const n = 500
	a := testgraph.Random(1, n, 3000, true)
	bounds := partition.Ranges(n, func(i int) int64 { return int64(i % 7) }, w.Size())
	lo, hi := bounds[w.Rank()], bounds[w.Rank()+1]
	for _, k := range []int{1, 3, 16} {
		at := func(i, j int) float64 { return math.Sin(float64(i*k + j)) }
		x, y := make([]float64, (hi-lo)*k), make([]float64, (hi-lo)*k)
		for i := lo; i < hi; i++ {
			col, val := a.Row(i)
			for j := range k {
				x[(i-lo)*k+j] = at(i, j)
				for e, c := range col {
					y[(i-lo)*k+j] += val[e] * at(int(c), j)
				}
			}
		}
		if err := compare[float64](w, a, bounds, x, y, k, 1e-13); err != nil {
			return err
		}
		if err := compare[float32](w, a, bounds, x, y, k, 1e-4); err != nil {
			return err
		}
	}
	return nil
}

func compare[T sparse.Float](w *World, a sparse.Matrix, bounds []int, x, y []float64, k int, tolerance float64) error {
	n, _ := a.Dims()
	d := sparse.NewDivision(n, w, bounds, nil)
	m, err := sparse.Divide(context.Background(), a, d, 0, 2)
	if err != nil {
		return err
	}
	defer m.Close()
	from, to := sparse.NewBlock[T](len(d.Team.Rows), k), sparse.NewBlock[T](len(d.Team.Rows), k)
	for i, v := range x {
		from.Row(i / k)[i%k] = T(v)
	}
	op := &sparse.Operator[T]{A: m, Workers: 2}
	if err := op.ApplyTo(context.Background(), to, from); err != nil {
		return err
	}
	for i, want := range y {
		if got := float64(to.Row(i / k)[i%k]); math.Abs(got-want) > tolerance*(1+math.Abs(want)) {
			return fmt.Errorf("product of %d columns of %T: %g at %d, want %g", k, *new(T), got, i, want)
		}
	}
	return nil
}

func limits(*World) error {
	if largestIndex() > math.MaxInt32 {
		return nil
	}
	const want = "2147483648 rows exceed the 2147483647 of PETSc with 32-bit indices; build with -tags petsc,petsc64"
	if err := checkIndex(math.MaxInt32+1, "rows"); err == nil || err.Error() != want {
		return fmt.Errorf("too many rows: %v", err)
	}
	return nil
}

// collector exchanges rows while the garbage collector runs and goroutines are preempted, and recovers from a nil
// pointer, because MPI must leave the signals to Go.
func collector(w *World) error {
	stop := make(chan bool)
	for range 2 {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
					runtime.KeepAlive(make([]byte, 1<<16))
				}
			}
		}()
	}
	r := newRing(w, 1001)
	y := make([]float64, r.hi-r.lo)
	for range 15 {
		x := r.wave(5)
		if err := r.multiply(y, x); err != nil {
			return err
		}
		if d := farthest(y, x, r.eigenvalue(5)); d > 1e-13 {
			return fmt.Errorf("off by %g", d)
		}
		if w.Rank() == 0 {
			runtime.GC()
		}
	}
	close(stop)
	defer func() { _ = recover() }()
	var nothing *ring
	nothing.n = 1
	return errors.New("a nil pointer was no panic")
}

func steps(w *World) error {
	number, err := strconv.Atoi(os.Getenv(stepsVariable))
	if err != nil {
		return err
	}
	a := testgraph.Random(1, 20_000, 100_000, false)
	n, _ := a.Dims()
	d := sparse.NewDivision(n, w, []int{0, n / 3, n}, nil)
	m, err := sparse.Divide(context.Background(), a, d, 0, 2)
	if err != nil {
		return err
	}
	x, y := sparse.NewBlock[float32](len(d.Team.Rows), stepColumns), sparse.NewBlock[float32](len(d.Team.Rows), stepColumns)
	fmt.Printf("process %d has pid %d and %d ghost rows\n", w.Rank(), os.Getpid(), m.Ghosts())
	op := &sparse.Operator[float32]{A: m, Workers: 1}
	for range number {
		if err := op.ApplyTo(context.Background(), y, x); err != nil {
			return err
		}
	}
	m.Close()
	return nil
}

func killed(w *World) error {
	if w.Rank() == 1 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	w.AllGather(make([]float64, w.Size()), []float64{1})
	return nil
}

func exits(w *World) error {
	if w.Rank() == 1 {
		os.Exit(3)
	}
	w.AllGather(make([]float64, w.Size()), []float64{1})
	return nil
}

func hangs(w *World) error {
	if w.Rank() == 1 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	w.AllGather(make([]float64, w.Size()), []float64{1})
	return nil
}

func slowClose(w *World) error {
	if w.Rank() == 0 {
		time.Sleep(2 * time.Second)
	}
	return nil
}

func asBytes(v []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}
