package checkpoint

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
)

var thisRun = Run{Version: "1", Graph: "g", Labels: "l", Options: "o"}

// openLog opens the log of a run that has gone on for an hour.
func openLog(t *testing.T, output string, of Run, resume bool) (*Log, error) {
	l, err := Open(output, 0, Warmup, resume, func() (Run, error) { return of, nil })
	l.begun, l.next = l.begun.Add(-time.Hour), l.begun
	t.Cleanup(func() { l.Close() })
	return l, err
}

// content is what the tests keep by a name: more than a frame.
func content(name string) []byte { return bytes.Repeat([]byte(name), frameBytes/len(name)*3/2) }

func keep(l *Log, name string) bool {
	return l.Keep(name, int64(len(content(name))), func(w io.Writer) error {
		_, err := w.Write(content(name))
		return err
	})
}

// check compares what a log recalls with what was kept, and returns how many parts it has
// that are not damaged.
func check(t *testing.T, l *Log, names ...string) (count int) {
	t.Helper()
	for _, name := range names {
		r := l.Recall(name)
		if r == nil {
			continue
		}
		got, err := io.ReadAll(r)
		wrong := new(Error)
		switch {
		case errors.As(err, &wrong) && wrong.Damaged:
		case err != nil || !bytes.Equal(got, content(name)):
			t.Errorf("%s: %v, %d bytes", name, err, len(got))
		default:
			count++
		}
	}
	return count
}

// Parts are recalled by the run that keeps them and by those that take it up, which keep
// more.
func TestLog(t *testing.T) {
	output := filepath.Join(t.TempDir(), "o")
	l, err := openLog(t, output, thisRun, true)
	if err != nil || l.Recall("first") != nil {
		t.Fatal(err)
	}
	if !keep(l, "first") || !keep(l, "second") || keep(l, "first") {
		t.Fatal("not kept once each")
	}
	if got := check(t, l, "first", "second", "third"); got != 2 {
		t.Errorf("%d parts", got)
	}
	if !l.Close() || keep(l, "third") || l.Recall("first") != nil || l.Close() {
		t.Error("not closed")
	}
	again, err := openLog(t, output, thisRun, true)
	if err != nil || !keep(again, "third") {
		t.Fatal("not taken up", err)
	}
	if got := check(t, again, "first", "second", "third"); got != 3 {
		t.Errorf("%d parts", got)
	}
	for what, other := range map[string]Run{
		"edges": {"1", "x", "l", "o"}, "labels or nodes": {"1", "g", "x", "o"}, "options": {"1", "g", "l", "x"}, "version": {"2", "g", "l", "o"},
	} {
		wrong := new(Error)
		if _, err := openLog(t, output, other, true); !errors.As(err, &wrong) || wrong.Damaged || !strings.HasSuffix(wrong.What, what) {
			t.Errorf("%v, want one about %s", err, what)
		}
	}
	anew, err := openLog(t, output, Run{}, false)
	if err != nil || !keep(anew, "fourth") || check(t, anew, "first", "fourth") != 1 {
		t.Error("a run that is not resumed does not begin anew", err)
	}
	if err := errors.Join(anew.Remove(), anew.Remove()); err != nil || anew.Close() {
		t.Error(err)
	}
	if _, err := os.Stat(l.path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Beside stdout and a device there is no journal, which keeps nothing.
func TestNoLog(t *testing.T) {
	for _, output := range []string{"-", os.DevNull} {
		l, err := Open(output, 0, Warmup, true, nil)
		if l != nil || err != nil || keep(l, "a") || l.Recall("a") != nil || l.Close() || l.Remove() != nil {
			t.Errorf("%s: %v, %v", output, l, err)
		}
	}
}

// Of a log that ends anywhere whole parts are left, and a changed byte is found when its
// part is read, if not before.
func TestLogDamaged(t *testing.T) {
	output := filepath.Join(t.TempDir(), "o")
	l, err := openLog(t, output, thisRun, false)
	if err != nil || !keep(l, "a") || !keep(l, "b") {
		t.Fatal(err)
	}
	first, second := l.at["a"], l.at["b"]
	l.Close()
	whole, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	step := func(i int) int { // bytes in the midst of frames are as good as each other
		if testing.Short() || int64(i) > first+50 && int64(i) < second-50 || int64(i) > second+50 {
			return 1009
		}
		return 1
	}
	for i := 0; i < len(whole); i += step(i) {
		for _, cut := range []bool{true, false} {
			text := bytes.Clone(whole)
			if text[i] ^= 4; cut {
				text = whole[:i]
			}
			if err := os.WriteFile(l.path, text, 0o666); err != nil {
				t.Fatal(err)
			}
			wrong := new(Error)
			l, err := openLog(t, output, thisRun, true)
			left := 0 // parts that are whole
			if int64(i) >= second {
				left = 1
			}
			switch got := check(t, l, "a", "b"); {
			case cut && int64(i) < first:
				if !errors.As(err, &wrong) || !wrong.Damaged {
					t.Fatalf("cut at %d: %v", i, err)
				}
			case cut:
				if err != nil || got != left || !keep(l, "c") || check(t, l, "c") != 1 {
					t.Fatalf("cut at %d: %v, %d parts", i, err, got)
				}
			case got == 2, err != nil && (got > 0 || !errors.As(err, &wrong)):
				t.Fatalf("byte %d of %d: %v, %d parts", i, len(whole), err, got)
			}
			l.Close()
		}
	}
}

// A run keeps nothing before it has gone on for a while, nothing that takes much of its
// time, and nothing for which the disk has no room.
func TestLogPays(t *testing.T) {
	output := filepath.Join(t.TempDir(), "o")
	fresh, err := Open(output, 0, Warmup, false, func() (Run, error) { return thisRun, nil })
	if err != nil || keep(fresh, "a") {
		t.Error("kept at once", err)
	}
	l, err := openLog(t, output, thisRun, false)
	nothing := func(io.Writer) error { t.Error("written"); return nil }
	if err != nil || l.Keep("a", 3600*usualBytes*8, nothing) {
		t.Error("took an hour of an hour", err)
	}
	if !l.pays(1) {
		t.Error("a byte takes much of an hour")
	}
	if l.wrote(1, time.Now().Add(-time.Hour/10), time.Now()); l.pays(1) {
		t.Error("what was written before takes no time")
	}
	free, err := durable.OS.Free(filepath.Dir(output))
	if err != nil {
		t.Fatal(err)
	}
	if l, err = Open(output, free/2, Warmup, false, func() (Run, error) { return thisRun, nil }); err != nil {
		t.Fatal(err)
	}
	l.begun, l.next = l.begun.Add(-time.Hour), l.begun
	if l.Keep("a", 100, nothing) {
		t.Error("took space that the run needs")
	}
	if _, err := os.Stat(l.path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Whatever operation of the file system fails, what was kept before is there, and a run that
// takes it up finds it.
func TestLogFaults(t *testing.T) {
	for i := 0; ; i++ {
		output := filepath.Join(t.TempDir(), "o")
		failing := durabletest.FailAt(durable.OS, i)
		var kept [3]bool
		durabletest.On(failing, func() {
			l, err := openLog(t, output, thisRun, false)
			for j, name := range []string{"a", "b", "c"} {
				kept[j] = err == nil && keep(l, name)
			}
			l.Close()
		})
		again, err := openLog(t, output, thisRun, true)
		if err != nil {
			t.Fatalf("after %s: %v", failing.Failed(), err)
		}
		for j, name := range []string{"a", "b", "c"} {
			if (check(t, again, name) == 1) != kept[j] {
				t.Errorf("after %s: %s kept: %v", failing.Failed(), name, kept[j])
			}
		}
		if failing.Failed() == "" {
			if kept != [3]bool{true, true, true} {
				t.Errorf("kept %v", kept)
			}
			return
		}
	}
}

// Where writing a part fails nothing more is kept, and no byte of it stays.
func TestLogEndsWithAFailure(t *testing.T) {
	output := filepath.Join(t.TempDir(), "o")
	l, err := openLog(t, output, thisRun, false)
	if err != nil || !keep(l, "first") {
		t.Fatal(err)
	}
	failed := l.Keep("second", 100, func(w io.Writer) error {
		if _, err := w.Write(content("second")); err != nil {
			return err
		}
		return errors.New("cancelled")
	})
	if failed || keep(l, "third") {
		t.Error("kept behind a failure")
	}
	if info, err := os.Stat(l.path); err != nil || info.Size() != l.end {
		t.Errorf("%d bytes of %d, error %v", info.Size(), l.end, err)
	}
}
