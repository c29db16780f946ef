package ingest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
)

// disks maps directories to their free bytes.
type disks struct {
	durable.FS
	free map[string]int64
}

func (d disks) Free(name string) (int64, error) {
	for dir, n := range d.free {
		if strings.HasPrefix(name, dir) {
			return n, nil
		}
	}
	return 1 << 50, nil
}

func TestFullDisks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const lines = 300_000
	text := edgeText(lines, func(i int) string { return fmt.Sprintf("%d\t%d", i%3001, i*7919%40_009) })
	names := edgeText(lines, func(i int) string { return fmt.Sprintf("node%d\tnode%d", i, i*7919%lines) })
	for _, test := range []struct {
		name, text  string
		memory      int64
		stdin       bool
		store, temp int64
		what        string
	}{
		{name: "known store", text: text, store: 100_000, temp: 1 << 40, what: diskStore},
		{name: "known temporary file", text: text, memory: 4 << 20, store: 1 << 40, temp: 100_000, what: diskTemp},
		{name: "piped store", text: text, stdin: true, store: 100_000, temp: 1 << 40, what: diskStore},
		{name: "piped temporary file", text: text, stdin: true, memory: 1 << 20, store: 1 << 40, temp: 1000, what: diskTemp},
		{name: "piped ids", text: names, stdin: true, memory: 12 << 20, store: 1 << 40, temp: 1000, what: diskTemp},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, temp := t.TempDir(), t.TempDir()
			c := &Config{Workers: 1, TempDir: temp}
			if test.memory > 0 {
				c.Memory = test.memory + workerBytes + pageBytes
			}
			paths := []string{"-"}
			if test.stdin {
				c.Stdin = strings.NewReader(test.text)
			} else {
				paths = write(t, file{"e.tsv", test.text})
			}
			var err error
			durabletest.On(disks{durable.OS, map[string]int64{out: test.store, temp: test.temp}}, func() {
				_, err = Run(t.Context(), filepath.Join(out, "g"), paths, c)
			})
			var full *LimitError
			if !errors.As(err, &full) {
				t.Fatalf("error %v", err)
			}
			free := min(test.store, test.temp)
			if full.What != test.what || full.Limit != free || full.Need <= free || full.Need > 64*int64(len(test.text)) {
				t.Errorf("%+v", full)
			}
			for _, dir := range []string{out, temp} {
				if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			}
		})
	}
}
