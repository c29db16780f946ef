package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/validate"
)

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errReaderGone, 0},
		{errors.New("anything"), 1},
		{fs.ErrPermission, 1},
		{shard.ErrLocked, 1},
		{usageOf("--alpha", "x"), 2},
		{&nodefile.InputError{}, 2},
		{shard.ErrExists, 2},
		{cwk.ErrInvalid, 2},
		{validate.ErrUsage, 2},
		{&validate.DrawError{}, 2},
		{method.ErrGrid, 2},
		{&nodefile.ParseError{}, 3},
		{&ingest.BadLines{First: []*nodefile.ParseError{{}}}, 3},
		{&dataError{}, 3},
		{method.ErrNoLabels, 3},
		{method.ErrOneClass, 3},
		{&shard.CorruptError{}, 4},
		{shard.ErrIncomplete, 4},
		{shard.ErrNotStore, 4},
		{shard.ErrVersion, 4},
		{shard.ErrChanged, 4},
		{&limitError{}, 5},
		{&ingest.MemoryError{}, 5},
		{&ingest.DiskError{}, 5},
		{&budget.OverError{}, 5},
		{&cwk.MemoryError{}, 5},
		{context.Canceled, 130},
		{errInterrupted, 130},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%#v: got %d, want %d", c.err, got, c.want)
		}
		if c.err != nil {
			if got := exitCode(fmt.Errorf("within: %w", c.err)); got != c.want {
				t.Errorf("wrapped %#v: got %d, want %d", c.err, got, c.want)
			}
		}
	}
}

func TestReports(t *testing.T) {
	at := int64(512)
	for _, c := range []struct {
		err  error
		want []report
	}{
		{&nodefile.ParseError{File: "e.tsv", Line: 3, Column: 5, Msg: "weight \"x\" is not a number", Fix: "fix the line"},
			[]report{{text: "e.tsv:3:5: weight \"x\" is not a number; fix the line", File: "e.tsv", Line: 3, Column: 5, Message: "weight \"x\" is not a number", Hint: "fix the line"}}},
		{&nodefile.ParseError{File: "e.bin", Byte: at, AtByte: true, Msg: "NUL byte"},
			[]report{{text: "e.bin@512: NUL byte", File: "e.bin", Byte: &at, Message: "NUL byte"}}},
		{&ingest.BadLines{First: []*nodefile.ParseError{{File: "e", Line: 1, Msg: "m"}}, Count: 7, More: true},
			[]report{{text: "e:1: m", File: "e", Line: 1, Message: "m"}, {text: "e: at least 6 more bad lines", Message: "e: at least 6 more bad lines"}}},
		{fmt.Errorf("opening: %w", &shard.CorruptError{Path: "g/1.shard", Offset: at, What: "frame 7: checksum; restore the file"}),
			[]report{{text: "g/1.shard@512: frame 7: checksum; restore the file", File: "g/1.shard", Byte: &at, Message: "frame 7: checksum", Hint: "restore the file"}}},
		{&usageError{[]problem{{"--a", "one; do this"}, {"--b", "two"}}},
			[]report{{text: "--a: one; do this", Flag: "--a", Message: "one", Hint: "do this"}, {text: "--b: two", Flag: "--b", Message: "two"}}},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist},
			[]report{{text: "x: file does not exist; check the path", File: "x", Message: "file does not exist", Hint: "check the path"}}},
		{&fs.PathError{Op: "write", Path: "x", Err: fs.ErrPermission},
			[]report{{text: "write x: permission denied", File: "x", Message: "write x: permission denied"}}},
		{errors.New("one\ntwo"), []report{{text: "one; two", Message: "one", Hint: "two"}}},
	} {
		if diff := cmp.Diff(c.want, reports(c.err), cmp.AllowUnexported(report{})); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.err, diff)
		}
	}
}

// What an iteration says of its steps and columns is no answer for a user.
func TestUnsolved(t *testing.T) {
	in := &invocation{}
	end := fmt.Errorf("%w: after 18 steps column 0 has residual 3.6e+08, asked for 1.2e+07", iterative.ErrIterationLimit)
	for what, err := range map[string]error{
		"kernel": in.kernelError(end, "g", &kernelFlags{}), "method": in.methodError(end, "g"),
	} {
		if text := err.Error(); !strings.HasPrefix(text, "g: "+unsolved+"; ") || exitCode(err) != 1 || !errors.Is(err, iterative.ErrIterationLimit) {
			t.Errorf("%s: %v, exit code %d", what, err, exitCode(err))
		}
	}
}
