package heatwalk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestMain(m *testing.M) {
	durable.OS = durabletest.Unsynced(durable.OS)
	if os.Getenv(serverVariable) == "" { // the server's memory is measured
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

func openRing(t *testing.T, nodes int, o *Options) *Graph {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var edges strings.Builder
	for i := range nodes {
		fmt.Fprintf(&edges, "%d\t%d\n%d\t%d\n", i, (i+1)%nodes, i, rng.IntN(nodes))
	}
	path := filepath.Join(t.TempDir(), "edges.tsv")
	if err := os.WriteFile(path, []byte(edges.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() }) // only reads
	return g
}

func seedsOf(client int) []string {
	var seeds []string
	for i := range 12 {
		seeds = append(seeds, strconv.Itoa(100*client+7*i))
	}
	return seeds
}

const serverVariable = "HEATWALK_TEST_SERVER_MEMORY"

// The resident memory of 64 clients stays below the limit.
func TestServerMemory(t *testing.T) {
	if limit := os.Getenv(serverVariable); limit != "" {
		bytes, err := strconv.ParseInt(limit, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		serveClients(t, bytes)
		return
	}
	build, ok := debug.ReadBuildInfo()
	if runtime.GOOS != "linux" || ok && slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the peak is read from /proc, and the race detector has several times as much memory")
	}
	const limit = 160 << 20
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServerMemory$", "-test.v")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%d", serverVariable, limit))
	child.Stderr = os.Stderr
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for scanner := bufio.NewScanner(output); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		if scanner.Text() == serverVariable {
			break
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", child.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_ = input.Close() // ends the child
	remaining, _ := io.ReadAll(output)
	if err := child.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, strings.Join(lines, "\n"), remaining)
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if peak == nil {
		t.Fatalf("no peak in %s", status)
	}
	kilobytes, err := strconv.ParseInt(string(peak[1]), 10, 64)
	t.Logf("peak %s, limit %s", budget.Text(kilobytes<<10), budget.Text(limit))
	if err != nil || kilobytes<<10 > limit {
		t.Errorf("the peak is %s (%v), the limit %s", budget.Text(kilobytes<<10), err, budget.Text(limit))
	}
}

func serveClients(t *testing.T, limit int64) {
	const different = 4
	data := budget.Data(limit)
	debug.SetMemoryLimit(budget.HeapLimit(data))
	g := openRing(t, 20_000, &Options{Memory: data})
	var alone [different][]float64
	for i := range alone {
		r, err := g.Rank(t.Context(), seedsOf(i), "diffusion:beta=0.5", 0)
		if err != nil {
			t.Fatal(err)
		}
		alone[i] = r.Score
	}
	var group sync.WaitGroup
	for client := range 64 {
		group.Go(func() {
			r, err := g.Rank(t.Context(), seedsOf(client%different), "diffusion:beta=0.5", 0)
			if err != nil || !slices.Equal(r.Score, alone[client%different]) {
				t.Errorf("client %d: %v, or other bits", client, err)
			}
		})
	}
	group.Wait()
	fmt.Println("\n" + serverVariable)
	_, _ = io.ReadAll(os.Stdin) // until the peak has been read
}

func TestJobsShare(t *testing.T) {
	for name, o := range map[string]*Options{
		"memory": {Memory: 12 << 20}, "jobs": {Jobs: 2}, "both": {Memory: 16 << 20, Jobs: 3, Stream: true},
	} {
		g := openRing(t, 3000, o)
		alone, err := g.Rank(t.Context(), seedsOf(0), "diffusion:beta=0.5", 0)
		if err != nil {
			t.Fatal(name, err)
		}
		cause := errors.New("enough")
		var group sync.WaitGroup
		for client := range 32 {
			group.Go(func() {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if client%2 == 0 {
					time.AfterFunc(time.Duration(client)*time.Millisecond/4, func() { cancel(cause) })
				}
				r, err := g.Rank(ctx, seedsOf(0), "diffusion:beta=0.5", 0)
				if client%2 == 0 && (errors.Is(err, cause) || errors.Is(err, context.Canceled)) {
					return
				}
				if err != nil || !slices.Equal(r.Score, alone.Score) {
					t.Errorf("%s: client %d: %v, or other bits", name, client, err)
				}
			})
		}
		group.Wait()
		job, err := g.Begin(t.Context(), &Needs{Workspace: func(j *Job, _ *Plan) (budget.Workspace, error) { return budget.Held(j.Memory), nil }})
		if err != nil {
			t.Fatalf("%s: after all jobs: %v", name, err)
		}
		job.End()
		job.End()
	}
}

func TestCloseEndsWaiting(t *testing.T) {
	g := openKarate(t, &Options{Jobs: 1})
	job, err := g.Begin(t.Context(), &Needs{})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() { _, err = g.Begin(t.Context(), &Needs{}) })
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	group.Wait()
	if !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	job.End()
}

// Such jobs give their result or ErrClosed.
func TestCloseWhileInUse(t *testing.T) {
	uses := usesOfGraph(t)
	for name, o := range map[string]*Options{"memory": nil, "disk": {Stream: true}, "one job": {Jobs: 1}} {
		g := openKarate(t, o)
		var group sync.WaitGroup
		ended := make(chan bool, len(uses))
		for job, use := range uses {
			group.Go(func() {
				for {
					err := use(t.Context(), g)
					if errors.Is(err, ErrClosed) {
						return
					} else if err != nil {
						t.Errorf("%s: %s: %v", name, job, err)
						return
					}
					select {
					case ended <- true:
					default:
					}
				}
			})
		}
		<-ended
		if err := g.Close(); err != nil {
			t.Error(name, err)
		}
		group.Wait()
	}
}

func TestGoroutinesShareGraph(t *testing.T) {
	g := openKarate(t, nil)
	for _, f := range kernel.Families() {
		compute := func() (*mat.Dense, error) {
			k, _, err := g.Kernel(t.Context(), f.Name, []string{"1", "34"}, []string{"1", "2", "33"}, 0)
			return k, err
		}
		alone, err := compute()
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				k, failure := compute()
				if (err == nil) != (failure == nil) || err == nil && !mat.Equal(k, alone) {
					t.Errorf("%s: %v and %v, or other bits", f.Name, err, failure)
				}
			})
		}
		group.Wait()
	}
	x := g.toRows(mat.NewDense(34, 1, slices.Repeat([]float64{1}, 34)))
	for _, s := range kernel.FunctionSpecs() {
		set := new(kernel.Settings)
		f, err := OpenFunction(t.Context(), g, &kernel.NamedFunction{Name: s.Name}, 1, set)
		if err != nil {
			t.Fatal(s.Name, err)
		}
		alone := sparse.NewBlock[float64](34, 1)
		_, err = f.ApplyTo(t.Context(), alone, x, set)
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				y := sparse.NewBlock[float64](34, 1)
				_, failure := f.ApplyTo(t.Context(), y, x, set)
				if (err == nil) != (failure == nil) || err == nil && !mat.Equal(y, alone) {
					t.Errorf("%s: %v and %v, or other bits", s.Name, err, failure)
				}
			})
		}
		group.Wait()
		f.Job.End()
	}
}

// The race detector reports data that concurrent calls change.
func TestGoroutinesCallMethods(t *testing.T) {
	uses := usesOfGraph(t)
	for name, read := range map[string]func(g *Graph){
		"Plan": func(g *Graph) { g.Plan() }, "Leave": func(g *Graph) { g.Leave(1, "a table") }, "With": func(g *Graph) { g.With(1, nil) },
		"IDs": func(g *Graph) { g.IDs() }, "Origin": func(g *Graph) { g.Origin() },
	} {
		uses[name] = func(_ context.Context, g *Graph) error { read(g); return nil }
	}
	methods := reflect.TypeFor[*Graph]()
	inner := methods.Elem().Field(0).Type // the embedded graph, whose methods take rows
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if _, isInner := inner.MethodByName(name); !isInner && uses[name] == nil && name != "Close" {
			t.Errorf("%s is not used", name)
		}
	}
	g := openKarate(t, nil)
	var group sync.WaitGroup
	for name, use := range uses {
		for range 2 {
			group.Go(func() {
				if err := use(t.Context(), g); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	group.Wait()
}
