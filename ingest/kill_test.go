package ingest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

var childOf = flag.String("ingest-into", "", "only ingest the file given as argument into this directory, with little memory")

func TestMain(m *testing.M) {
	flag.Parse()
	durable.OS = durabletest.Unsynced(durable.OS)
	if *childOf == "" {
		debug.SetGCPercent(400)
		goleak.VerifyTestMain(m)
		return
	}
	c := &Config{Force: true, Memory: 2*workerBytes + pageBytes + 4<<20, Workers: 2}
	if _, err := Run(context.Background(), *childOf, flag.Args(), c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("rng seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	input := write(t, file{"edges.tsv", edgeText(300_000, func(int) string { return fmt.Sprintf("%d\t%d", r.IntN(50_000), r.IntN(50_000)) })})[0]
	parent := t.TempDir()
	dir := filepath.Join(parent, "graph")
	start := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-ingest-into", dir, input)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	began := time.Now()
	if err := start().Wait(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	kills := 8
	if testgraph.Hunt {
		kills = 100
	}
	whole, partial := 0, 0
	for i := range kills {
		if i%2 == 0 { // otherwise there is a store to replace
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		cmd := start()
		time.Sleep(time.Duration(r.Float64() * 1.1 * float64(took)))
		_ = cmd.Process.Kill() // the process may have ended
		_ = cmd.Wait()
		switch err := verify(dir); {
		case err == nil:
			whole++
		case errors.Is(err, shard.ErrIncomplete) || errors.Is(err, shard.ErrNotStore) || errors.Is(err, fs.ErrNotExist):
			partial++
		default:
			t.Errorf("kill %d: %v", i, err)
		}
	}
	t.Logf("%d stores whole, %d not there", whole, partial)
	if err := start().Wait(); err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if names, err := os.ReadDir(parent); err != nil || len(names) != 1 {
		t.Errorf("beside the store: %v, %v", names, err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != len(s.Manifest.Files)+1 {
		t.Errorf("in the store: %v, %v", names, err)
	}
}

func TestFaultsOfTemporaryFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r := rand.New(rand.NewPCG(2, 2))
	for name, line := range map[string]func(int) string{
		"numbers": func(int) string { return fmt.Sprintf("%d\t%d", r.IntN(3000), r.IntN(3000)) },
		"names":   func(int) string { return fmt.Sprintf("a%d\tb%d", r.IntN(300), r.IntN(300)) },
	} {
		t.Run(name, func(t *testing.T) {
			input := write(t, file{"edges.tsv", edgeText(8_000, line)})
			for i := 0; ; i++ {
				mem := durabletest.NewMem()
				failing := durabletest.FailAt(mem, i)
				c := &Config{Memory: workerBytes + pageBytes + 1<<17, Workers: 1}
				var report *Report
				var err error
				durabletest.On(failing, func() { report, err = Run(t.Context(), "g", input, c) })
				names, listing := mem.List(".")
				if listing != nil {
					t.Fatal(listing)
				}
				if failing.Failed() == "" {
					if err != nil || report.SpilledBytes == 0 || len(names) != 1 {
						t.Errorf("without a fault: %v, %+v, %v", err, report, names)
					}
					t.Logf("%d operations", i)
					return
				}
				var opened error
				durabletest.On(mem, func() { opened = verify("g") })
				tidy := failing.Failed() != "remove" && failing.Failed() != "list" // without these operations, files cannot be removed
				if err != nil && tidy && opened != nil && len(names) > 0 || len(names) > 2 || err == nil && opened != nil {
					t.Errorf("%s: error %v, left %v, store %v", failing.Failed(), err, names, opened)
				}
			}
		})
	}
}
