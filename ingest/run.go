package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// Run reads the inputs and writes them as one store in the directory dir. The input "-" is standard input.
//
// While Run works, it keeps in memory 8 bytes for each line, 16 with weights; 4 or 8 bytes for each entry
// that is sorted, and 8 for its weight; and the dictionary of the ids. If Memory is too small for this, most
// lines go to a temporary file, with 2 to 8 bytes for a line and 8 for a weight. Entries that exceed the
// memory go there too, with 4 to 8 bytes for an entry.
//
// The error is a [*nodefile.ParseError] for wrong data; the errors of several kinds of bad lines are joined.
// The error wraps [nodefile.ErrInput] for wrong settings or inputs. Otherwise it is a [*LimitError], or an
// error of package shard or of the file system. After an error no new files are left, and an existing store
// is unchanged.
func Run(ctx context.Context, dir string, inputs []string,
	c *Config) (report *Report, err error) {
	settings := Config{}
	if c != nil {
		settings = *c
	}
	if warn := settings.Warn; warn != nil {
		told := map[string]bool{} // a second run has the same warnings
		settings.Warn = func(warning error) {
			if text := warning.Error(); !told[text] {
				told[text] = true
				warn(warning)
			}
		}
	}
	texts := map[string][2]bool{}
	for {
		report, err := run(ctx, dir, inputs, settings, texts)
		var again *textIDs
		if !errors.As(err, &again) {
			return report, err
		}
		columns := texts[again.file]
		texts[again.file] = [2]bool{columns[0] || again.columns[0], columns[1] || again.columns[1]}
	}
}

// run is one attempt of [Run]. texts has the columns of ids that are text, by the name of the file.
func run(ctx context.Context, dir string, inputs []string, c Config, texts map[string][2]bool) (report *Report, err error) {
	start := time.Now()
	t := &task{ctx: ctx, c: c, dir: dir, fs: durable.OS, report: &Report{IDs: "numeric"}, textIDs: texts}
	if err := t.c.validate(); err != nil {
		return nil, err
	}
	if inputs, err = t.c.pair(inputs); err != nil {
		return nil, err
	}
	if err := t.c.distinctInputs(inputs); err != nil {
		return nil, err
	}
	t.inputBytes = bytesOf(inputs)
	t.workers = sched.Workers(t.c.Workers)
	durable.RemoveUnused(t.fs, t.tempDir())
	w, err := t.create(t.c.Directed)
	if err != nil {
		return nil, err
	}
	defer func() { w.Abort() }()
	m := newMemory(t)
	all := stage{t: t, c: &t.c, m: m, lines: m.lines, names: m.names, numbering: m.numbering}
	defer func() {
		if left := m.lines.endSpill(); left != nil && err == nil {
			t.warn(fmt.Errorf("the temporary file could not be removed: %v", left))
		}
	}()
	stated, err := (&reader{stage: all}).read(inputs)
	if err != nil {
		return nil, err
	}
	t.report.SecondsRead = time.Since(start).Seconds()
	if err := (&numberer{all}).numberAll(); err != nil {
		return nil, err
	}
	entries := &edgeSorter{all}
	directed, err := entries.isDirected(stated)
	if err != nil {
		return nil, err
	}
	if directed != t.c.Directed {
		if err := w.Abort(); err != nil {
			return nil, err
		}
		if w, err = t.create(directed); err != nil {
			return nil, err
		}
	}
	if err := (&orderer{stage: all, sorting: entries}).reorder(); err != nil {
		return nil, err
	}
	if err := entries.write(w, directed); err != nil {
		return nil, err
	}
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	t.report.Files = t.files
	t.report.Store = &w.Manifest
	t.report.SecondsSync = w.SyncTime.Seconds()
	t.report.Seconds = time.Since(start).Seconds()
	return t.report, nil
}

// distinctInputs returns an error if there is no input, or if a file is named twice.
func (c *Config) distinctInputs(inputs []string) error {
	if len(inputs)+len(c.Sources) == 0 {
		return refuse("", "name a file, or - for standard input", "no input")
	}
	var infos []os.FileInfo // files of earlier inputs
	for i, path := range inputs {
		var info os.FileInfo
		var err error
		if path != "-" {
			info, err = os.Stat(path)
		}
		switch twice := func(earlier os.FileInfo) bool { return os.SameFile(earlier, info) }; {
		case slices.Contains(inputs[:i], path), info != nil &&
			slices.ContainsFunc(infos, twice):
			return refuse(path, "", "given twice; weights would double")
		case err != nil:
			var path *os.PathError
			if errors.As(err, &path) {
				path.Op = "open"
			}
			return err
		case info != nil && info.IsDir():
			return textio.Directory(path)
		case info != nil:
			infos = append(infos, info)
		}
	}
	return nil
}

func bytesOf(paths []string) (sum int64) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == "-" || err != nil || !info.Mode().IsRegular() {
			return 0
		}
		sum += info.Size()
	}
	return sum
}
