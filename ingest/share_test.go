package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heatwalk/heatwalk/file/nodefile"
)

// shares writes and opens all shares of files.
func shares(t testing.TB, c *Config, of int, paths ...string) []*Share {
	t.Helper()
	dir := t.TempDir()
	own := *c
	own.TempDir = dir
	list := make([]*Share, of)
	for i := range list {
		var b bytes.Buffer
		if _, err := WriteShare(context.Background(), &b, paths, i, of, &own); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprint("share", i))
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := OpenShare(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		list[i] = s
	}
	return list
}

// merged merges shares into a new store.
func merged(t testing.TB, c *Config, list []*Share) (dir string, report *Report, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "graph")
	report, err = Merge(context.Background(), dir, list, c)
	return dir, report, err
}

// sharedFiles returns files with edges of a random graph: their ids come again in other files, and so do
// edges. id writes a node's id in a file.
func sharedFiles(seed uint64, files, lines int, weighted bool, id func(file, node int) string) (all []file) {
	r := rand.New(rand.NewPCG(seed, 1))
	for f := range files {
		var b strings.Builder
		for range lines {
			u, v := r.IntN(60)*r.IntN(60), r.IntN(60)*r.IntN(60)
			if f%2 == 1 && r.IntN(20) == 0 {
				b.WriteString("# a remark\n")
			}
			fmt.Fprintf(&b, "%s\t%s", id(f, u), id(f, v))
			if weighted {
				fmt.Fprintf(&b, "\t%d.%d", r.IntN(3), r.IntN(10))
			}
			b.WriteByte('\n')
		}
		text := b.String()
		if f%3 == 2 {
			text = packed(text)
		}
		all = append(all, file{fmt.Sprintf("part%d.tsv", f), text})
	}
	return all
}

// TestMergedSharesAreTheSame compares the bytes of stores of shares with those of one run.
func TestMergedSharesAreTheSame(t *testing.T) {
	number := func(_, node int) string { return fmt.Sprint(node) }
	text := func(_, node int) string { return fmt.Sprintf("node %d", node*7919%10007) }
	for name, c := range map[string]struct {
		Config
		id       func(file, node int) string
		weighted bool
		memory   int64 // least limit, 0: 8.5 MiB
	}{
		"numbers":           {id: number},
		"numbers by degree": {Config: Config{Order: DegreeOrder}, id: number},
		"numbers, directed": {Config: Config{Directed: true, KeepLoops: true}, id: number, memory: 8<<20 + 200<<10},
		"large numbers":     {id: func(_, node int) string { return fmt.Sprint(node * 1e12) }},
		"sums":              {Config: Config{Duplicates: SumDuplicates}, id: number, weighted: true},
		"counts":            {Config: Config{Duplicates: SumDuplicates}, id: text},
		"first weights":     {Config: Config{Duplicates: FirstDuplicates}, id: text, weighted: true},
		"directed weights":  {Config: Config{Directed: true}, id: text, weighted: true},
		"text":              {id: text},
		"text by locality":  {Config: Config{Order: LocalityOrder}, id: text, memory: 12 << 20},
		"bipartite":         {Config: Config{Bipartite: true}, id: number},
		"missing integer":   {Config: Config{Missing: []string{"0"}}, id: number},
		"missing words": {Config: Config{Missing: []string{"NA"}}, id: func(_, node int) string {
			return map[bool]string{true: "NA"}[node%9 == 0] + fmt.Sprint(node)[:len(fmt.Sprint(node))*min(1, node%9)]
		}},
		"text in later files": {id: func(file, node int) string {
			if file >= 3 && node%2 == 0 {
				return fmt.Sprintf("n%d", node)
			}
			return fmt.Sprint(node)
		}},
		"numbers in later files": {id: func(file, node int) string {
			if file < 2 {
				return fmt.Sprintf("n%d", node)
			}
			return fmt.Sprint(node)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			config := fixed(c.Config)
			paths := write(t, sharedFiles(7, 5, 8_000, c.weighted, c.id)...)
			dir, want, err := ingestInto(t, config, paths...)
			if err != nil {
				t.Fatal(err)
			}
			bytes := contents(t, dir)
			for of, memory := range map[int]int64{1: 0, 2: cmp.Or(c.memory, 17<<19), 5: cmp.Or(c.memory, 17<<19)} {
				own := *config
				own.Memory, own.Workers = memory, 2
				dir, report, err := merged(t, &own, shares(t, &own, of, paths...))
				if err != nil {
					t.Fatal(err)
				}
				if got := contents(t, dir); !maps.Equal(got, bytes) {
					t.Errorf("%d shares: other bytes", of)
				}
				if memory > 0 && report.SpilledBytes == 0 {
					t.Errorf("%d shares: all lines were in memory", of)
				}
				if diff := gocmp.Diff(want, report, gocmp.FilterPath(isOfRun, gocmp.Ignore()), cmpopts.IgnoreUnexported(FileReport{})); diff != "" {
					t.Errorf("%d shares: %s", of, diff)
				}
			}
		})
	}
}

// isOfRun reports whether a field of a report describes the run and not the graph.
func isOfRun(p gocmp.Path) bool {
	return slices.Contains([]string{"Warnings", "Seconds", "SecondsSync", "SecondsRead", "PeakBytes", "SpilledBytes", "Store"}, strings.TrimPrefix(p.Last().String(), "."))
}

// An error of lines in different shares names files and lines as one run does.
func TestSharesThatDisagree(t *testing.T) {
	paths := write(t, file{"a.tsv", "x\ty\t1\nx\tz\t1\n"}, file{"b.tsv", "# two\ny\tx\t2\n"})
	_, _, want := ingestInto(t, nil, paths...)
	_, _, err := merged(t, nil, shares(t, &Config{}, 2, paths...))
	if err == nil || want == nil || err.Error() != want.Error() || !strings.Contains(err.Error(), "b.tsv:2: ") {
		t.Errorf("error %v, want %v", err, want)
	}
}

func TestSharesAreRefused(t *testing.T) {
	paths := write(t, file{"a.tsv", "1\t2\n"}, file{"b.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"})
	for want, c := range map[string]struct {
		Config
		inputs    []string
		index, of int
	}{
		"at most as many shares as inputs": {inputs: paths[:1], of: 2},
		"numbers its own nodes":            {inputs: paths, index: 1, of: 2},
		"standard input has no shares":     {inputs: []string{"-"}, of: 1},
		"has the first rows":               {Config: Config{Nodes: paths[0]}, inputs: paths, of: 2},
	} {
		c.TempDir = t.TempDir()
		_, err := WriteShare(context.Background(), new(bytes.Buffer), c.inputs, c.index, c.of, &c.Config)
		if !errors.Is(err, nodefile.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	list := shares(t, &Config{}, 2, write(t, file{"a.tsv", "1\t2\n"}, file{"b.tsv", "2\t3\n"})...)
	other := shares(t, &Config{Directed: true}, 2, list[0].Inputs...)
	for _, wrong := range [][]*Share{{list[0]}, {list[1], list[0]}, {list[0], list[0]}, {list[0], other[1]}, nil} {
		if _, _, err := merged(t, nil, wrong); !errors.Is(err, nodefile.ErrInput) {
			t.Errorf("%d shares: error %v", len(wrong), err)
		}
	}
}

// Every changed byte, and every cut, is found.
func TestDamagedShares(t *testing.T) {
	list := shares(t, &Config{}, 1, write(t, file{"a.tsv", "x\ty\t1\ny\tz\t2\n"})...)
	good, err := os.ReadFile(list[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged")
	try := func(b []byte) error {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := OpenShare(context.Background(), path)
		if err != nil {
			return err
		}
		defer s.Close()
		_, _, err = merged(t, nil, []*Share{s})
		return err
	}
	if err := try(good); err != nil {
		t.Fatal(err)
	}
	var wrong *nodefile.ParseError
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 4
		if err := try(bad); !errors.As(err, &wrong) {
			t.Fatalf("byte %d: error %v", i, err)
		}
	}
	for i := 0; i < len(good); i += 7 {
		if err := try(good[:i]); !errors.As(err, &wrong) {
			t.Fatalf("%d bytes: error %v", i, err)
		}
	}
}
