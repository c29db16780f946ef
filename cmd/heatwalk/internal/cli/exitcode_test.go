package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// TestExitCode tests package shell. It is here because this test program already links everything that it
// needs.
func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{shell.ErrReaderGone, 0},
		{errors.New("anything"), 1},
		{fs.ErrPermission, 1},
		{shard.ErrLocked, 1},
		{shell.UsageError("--alpha", "x"), 2},
		{&nodefile.ParseError{Err: nodefile.ErrInput}, 2},
		{shard.ErrExists, 2},
		{cwk.ErrInvalid, 2},
		{choose.ErrUsage, 2},
		{&choose.SplitError{}, 2},
		{method.ErrGrid, 2},
		{&nodefile.ParseError{}, 3},
		{errors.Join(&nodefile.ParseError{}, errors.New("more")), 3},
		{shell.DataError("", ""), 3},
		{problem.ErrNoLabels, 3},
		{problem.ErrOneClass, 3},
		{&shard.CorruptError{}, 4},
		{shard.ErrIncomplete, 4},
		{shard.ErrNotStore, 4},
		{shard.ErrVersion, 4},
		{shard.ErrChanged, 4},
		{shell.LimitError("", ""), 5},
		{&ingest.LimitError{}, 5},
		{&budget.Error{}, 5},
		{context.Canceled, 130},
		{shell.ErrInterrupted, 130},
	} {
		if got := shell.ExitCode(c.err); got != c.want {
			t.Errorf("%#v: got %d, want %d", c.err, got, c.want)
		}
		if c.err != nil {
			if got := shell.ExitCode(fmt.Errorf("within: %w", c.err)); got != c.want {
				t.Errorf("wrapped %#v: got %d, want %d", c.err, got, c.want)
			}
		}
	}
}

func TestReports(t *testing.T) {
	at := int64(512)
	for _, c := range []struct {
		err  error
		want []shell.ErrorReport
	}{
		{&nodefile.ParseError{File: "e.tsv", Line: 3, Column: 5, Msg: "weight \"x\" is not a number", Fix: "fix the line"},
			[]shell.ErrorReport{{Text: "e.tsv:3:5: weight \"x\" is not a number; fix the line", File: "e.tsv", Line: 3, Column: 5, Message: "weight \"x\" is not a number", Hint: "fix the line"}}},
		{&nodefile.ParseError{File: "e.bin", Byte: at, AtByte: true, Msg: "NUL byte"},
			[]shell.ErrorReport{{Text: "e.bin@512: NUL byte", File: "e.bin", Byte: &at, Message: "NUL byte"}}},
		{&nodefile.ParseError{File: "t.csv", Msg: "strings are in one column; name the one"},
			[]shell.ErrorReport{{Text: "t.csv: strings are in one column; name the one", File: "t.csv", Message: "strings are in one column", Hint: "name the one"}}},
		{errors.Join(&nodefile.ParseError{File: "e", Line: 1, Msg: "m"}, errors.New("e: at least 6 more bad lines")),
			[]shell.ErrorReport{{Text: "e:1: m", File: "e", Line: 1, Message: "m"}, {Text: "e: at least 6 more bad lines", Message: "e: at least 6 more bad lines"}}},
		{fmt.Errorf("%w: %w", errors.New("wrong"), &nodefile.ParseError{File: "e", Line: 1, Msg: "m"}),
			[]shell.ErrorReport{{Text: "e:1: m", File: "e", Line: 1, Message: "m"}}},
		{fmt.Errorf("opening: %w", &shard.CorruptError{Path: "g/1.shard", Offset: at, What: "frame 7: checksum; restore the file"}),
			[]shell.ErrorReport{{Text: "g/1.shard@512: frame 7: checksum; restore the file", File: "g/1.shard", Byte: &at, Message: "frame 7: checksum", Hint: "restore the file"}}},
		{shell.UsageErrors([]shell.Problem{{Place: "--a", What: "one; do this"}, {Place: "--b", What: "two"}}),
			[]shell.ErrorReport{{Text: "--a: one; do this", Flag: "--a", Message: "one", Hint: "do this"}, {Text: "--b: two", Flag: "--b", Message: "two"}}},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist},
			[]shell.ErrorReport{{Text: "x: file does not exist; check the path", File: "x", Message: "file does not exist", Hint: "check the path"}}},
		{&fs.PathError{Op: "write", Path: "x", Err: fs.ErrPermission},
			[]shell.ErrorReport{{Text: "write x: permission denied", File: "x", Message: "write x: permission denied"}}},
		{errors.New("one\ntwo"), []shell.ErrorReport{{Text: "one; two", Message: "one", Hint: "two"}}},
	} {
		if diff := cmp.Diff(c.want, shell.ErrorReports(c.err)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.err, diff)
		}
	}
}
