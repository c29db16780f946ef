package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// RunInput identifies an input of a run.
type RunInput struct {
	Name     string `json:"name"`
	Identity string `json:"identity,omitempty"` // identity of a store, which has no sum
	*textio.Sum
}

// inputSums collects the sums of the inputs that are read to their ends.
type inputSums struct {
	mutex sync.Mutex
	sums  map[string]textio.Sum
}

func (s *inputSums) record(name string, sum textio.Sum) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.sums[name] = sum
}

// identifyInput returns the checksum of a file or the identity of a store. ok is false if path cannot be
// read again.
func identifyInput(ctx context.Context, path string) (in RunInput, ok bool, err error) {
	in = RunInput{Name: path}
	switch {
	case textio.IsStream(path):
		return in, false, nil
	case ingest.IsStore(path):
		s, err := shard.Open(ctx, path, &shard.Options{Stream: true})
		if err != nil {
			return in, false, err
		}
		in.Identity = s.Manifest.Content()
		return in, true, s.Close()
	case IsDir(path):
		return in, false, nil // its files were recorded when they were read
	}
	sum, err := textio.SumFile(ctx, path)
	in.Sum = &sum
	return in, err == nil, err
}

// listInputs returns the inputs of the run. It reads inputs again that were not read from beginning to end.
func (run *Session) listInputs() (list []RunInput) {
	run.inputs.mutex.Lock()
	sums := maps.Clone(run.inputs.sums)
	run.inputs.mutex.Unlock()
	if run.Line.Command != nil {
		for _, path := range inputPaths(run.Line.Command, run.Line.Command.Flags().Args()) {
			if _, isSummed := sums[path]; path == "" || isSummed {
				continue
			}
			if in, ok, _ := identifyInput(run.Context, path); ok { // unread inputs have no sum
				list = append(list, in)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if !IsThere(filepath.Join(filepath.Dir(name), "manifest")) && !strings.HasSuffix(name, runFileEnding) {
			sum := sums[name]
			list = append(list, RunInput{Name: name, Sum: &sum})
		}
	}
	return list
}

const runFileEnding = ".run.json"

// CheckInputs compares the inputs in a run file with the files on the disk, and returns their number. Relative names are in
// the directory of the run.
func CheckInputs(ctx context.Context, path, directory string, inputs []RunInput) (int, error) {
	for _, want := range inputs {
		name := want.Name
		if name == "stdin" {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(directory, name)
		}
		got, _, err := identifyInput(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, DataError(name, "it is missing, and %s lists it as an input; restore it", path)
		}
		if err != nil {
			return 0, err
		}
		if got.Identity != want.Identity || got.describe() != want.describe() {
			return 0, DataError(name, "it has %s, and in %s %s; restore the file, or repeat the run", got.describe(), path, want.describe())
		}
	}
	return len(inputs), nil
}

func (in *RunInput) describe() string {
	if in.Identity != "" {
		return "the identity " + in.Identity
	}
	if in.Sum == nil {
		return "no checksum"
	}
	return fmt.Sprintf("%d bytes with the checksum %s", in.Bytes, in.CRC)
}

// Restore sets the flags for reading a graph to their values in o, the origin of the model. Flags that the
// user gave stay. If name is a store, Restore does nothing.
func (r *GraphInputs) Restore(run *Session, o *sides.Origin, name, model string) error {
	if ingest.IsStore(name) || o.Reading == nil {
		return nil
	}
	flags := run.Line.Command.Flags()
	for _, flag := range r.Names {
		if f := flags.Lookup(flag); f.Changed {
			o.Reading[strings.ReplaceAll(flag, "-", "_")] = f.Value.String()
		}
	}
	var restored []string
	for _, key := range slices.Sorted(maps.Keys(o.Reading)) {
		flag := flags.Lookup(strings.ReplaceAll(key, "_", "-"))
		text := o.Reading[key]
		isDirection := strings.HasSuffix(key, "directed") && (r.Config.Directed || r.Config.Undirected)
		if flag == nil || flag.Value.String() == text || isDirection {
			continue
		}
		if err := flags.Set(flag.Name, text); err != nil {
			return err
		}
		restored = append(restored, "--"+flag.Name+"="+text)
	}
	if restored != nil {
		run.Console.Note(name + " is read as " + model + " says: " + strings.Join(restored, " "))
	}
	return run.Line.JoinProblems()
}
