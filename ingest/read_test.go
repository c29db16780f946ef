package ingest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

func zstdOf(text string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

func TestSideBySide(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 8))
	most, counts, ids := 60_000, []int{1, 2, 7}, []string{"n%d\tn%d", "%d\t%d"}
	if testing.Short() {
		most, counts, ids = 6000, counts[2:], ids[:1]
	}
	for _, id := range testgraph.Sample(t, 1, ids) {
		var text strings.Builder
		var files []file
		for i := range 7 {
			part := edgeText(r.IntN(most)+1, func(int) string { return fmt.Sprintf(id, r.IntN(9000), r.IntN(9000)) })
			text.WriteString(part)
			switch name := fmt.Sprintf("%d.tsv", i); {
			case i == 3:
				files = append(files, file{name, part})
			case i%2 == 0:
				files = append(files, file{name + ".gz", packed(part)})
			default:
				files = append(files, file{name + ".zst", zstdOf(part)})
			}
		}
		whole, report, err := ingestInto(t, fixed(Config{Order: DegreeOrder}), write(t, file{"all.tsv", text.String()})...)
		if err != nil {
			t.Fatal(err)
		}
		paths := write(t, files...)
		for _, workers := range counts {
			for _, memory := range []int64{0, 8<<20 + int64(workers)*workerBytes} {
				c := fixed(Config{Order: DegreeOrder, Workers: workers, Memory: memory})
				c.Progress = func(stage string, done, total int64) {
					if done > total {
						t.Errorf("%s: %d of %d", stage, done, total)
					}
				}
				dir, parts, err := ingestInto(t, c, paths...)
				if err != nil {
					t.Fatal(err)
				}
				if !maps.Equal(contents(t, dir), contents(t, whole)) {
					t.Errorf("another store with %d workers and %d bytes", workers, memory)
				}
				if parts.Lines != report.Lines || len(parts.Files) != 7 || parts.Files[5].Name != paths[5] || parts.Duplicates != report.Duplicates {
					t.Errorf("%d workers: %+v, want %+v", workers, parts, report)
				}
			}
		}
	}
}

func TestSideBySideErrors(t *testing.T) {
	good := edgeText(100_000, func(i int) string { return fmt.Sprintf("%d\t%d", i, i+1) })
	stored := packed(good)
	for _, test := range []struct {
		bad  map[int]string
		want string
	}{
		{map[int]string{1: good + "x\n", 2: "y\n"}, "1.tsv.gz:100001: "},
		{map[int]string{2: good + "1\t2\t3\n", 5: "1\t2\n3\n"}, "2.tsv.gz:100001: "},
		{map[int]string{0: "1\n"}, "0.tsv.gz:1: "},
	} {
		var files []file
		for i := range 6 {
			content := stored
			if text, isBad := test.bad[i]; isBad {
				content = packed(text)
			}
			files = append(files, file{fmt.Sprintf("%d.tsv.gz", i), content})
		}
		paths := write(t, files...)
		for _, workers := range []int{3, 1} {
			if testing.Short() && workers == 1 {
				break
			}
			_, _, err := ingestInto(t, &Config{Workers: workers}, paths...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%d workers: error %v, want %s", workers, err, test.want)
			}
		}
	}
}
