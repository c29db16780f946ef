package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/system"
)

func terminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { user.Close() })
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { program.Close() })
	if err := unix.IoctlSetWinsize(int(user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Skip(err)
	}
	return user, program
}

// Users do not type graphs.
func TestTerminalAsInput(t *testing.T) {
	workplace(t)
	_, keyboard := terminal(t)
	for _, args := range [][]string{
		{"ingest", "-", "-o", "new"},
		{"info", "-"},
		{"classify", "-", "--labels", "l.tsv", "-o", "out.tsv"},
		{"classify", "g", "--labels", "-", "-o", "out.tsv"},
	} {
		before := tree(t, ".")
		var stderr bytes.Buffer
		code := Main(args, keyboard, io.Discard, &stderr)
		const want = "heatwalk: waiting for input on a terminal; give a file or pipe\n"
		if code != shell.WrongUsage || stderr.String() != want {
			t.Errorf("%s: exit code %d, stderr: %s, want %s", strings.Join(args, " "), code, stderr.String(), want)
		}
		if after := tree(t, "."); after != before {
			t.Errorf("%s left\n%s", strings.Join(args, " "), after)
		}
	}
}

type screenText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screenText) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screenText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *screenText) waitFor(t *testing.T, part string) {
	t.Helper()
	for range 6000 {
		if strings.Contains(s.String(), part) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the screen lacks %q: %q", part, s.String())
}

func TestProgressOnATerminal(t *testing.T) {
	screen, stderr := terminal(t)
	var text screenText
	closed := make(chan error)
	go func() {
		_, err := io.Copy(&text, screen)
		closed <- err
	}()
	p := shell.NewDisplay(stderr, "auto", false, false)
	s := p.Begin("reading edges.tsv", 2_000_000, shell.Bytes)
	s.Set(1_000_000, 0)
	text.waitFor(t, "1.00 MB of 2.00 MB") // bars are drawn at intervals
	p.Print([]byte("heatwalk: warning: odd\n"))
	text.waitFor(t, "heatwalk: warning: odd")
	p.Close()
	if err := stderr.Close(); err != nil {
		t.Fatal(err)
	}
	<-closed // an error, because the program's end is closed
	for _, part := range []string{"reading edges.tsv", "━", "1.00 MB of 2.00 MB", "heatwalk: warning: odd"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the screen lacks %q: %q", part, text.String())
		}
	}
	const erase = "\x1b[J"
	shown := text.String()
	if at := strings.LastIndex(shown, "reading"); at >= 0 && !strings.Contains(shown[at:], erase) {
		t.Errorf("the bar stays: %q", shown[at:])
	}
}

func TestContainerLimit(t *testing.T) {
	workplace(t)
	root := t.TempDir()
	system.Root = root
	defer func() { system.Root = "" }()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const group, above, old = "sys/fs/cgroup/a/b/memory.max", "sys/fs/cgroup/a/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"
	write("proc/meminfo", "MemTotal: 67108864 kB\n") // 64 GiB
	write("proc/self/cgroup", "0::/a/b\n")
	for _, c := range []struct {
		group, above, old string
		want              int64
	}{
		{"max\n", "max\n", "9223372036854771712\n", 0},
		{"8589934592\n", "max\n", "9223372036854771712\n", 8 << 30},
		{"max\n", "8589934592\n", "9223372036854771712\n", 8 << 30},
		{"17179869184\n", "8589934592\n", "34359738368\n", 8 << 30},
		{"max\n", "max\n", "8589934592\n", 8 << 30},
		{"nonsense\n", "", "", 0},
	} {
		write(group, c.group)
		write(above, c.above)
		write(old, c.old)
		memory, owner := int64(64<<30), "machine"
		if c.want > 0 {
			memory, owner = c.want, "container"
		}
		if got, by := system.AllowedMemory(); got != memory || by != owner {
			t.Errorf("%+v: memory %d by %s, want %d", c, got, by, memory)
		}
		var stderr bytes.Buffer
		want := ""
		if c.want > 0 {
			want = "heatwalk: warning: limit 8.59 GB (container) is used instead of 17.2 GB\n"
		}
		code := Main([]string{"info", "g", "--max-memory", "16GiB"}, nil, io.Discard, &stderr)
		if code != shell.Done || stderr.String() != want {
			t.Errorf("%+v: exit code %d, stderr: %s", c, code, stderr.String())
		}
		stderr.Reset()
		if code := Main([]string{"info", "g", "--max-memory", "4GiB"}, nil, io.Discard, &stderr); code != shell.Done || stderr.Len() > 0 {
			t.Errorf("%+v: exit code %d, stderr: %s", c, code, stderr.String())
		}
	}
}

// The memory limit is the address space minus the part of the program. A limit that is too small is refused
// before the runtime fails.
func TestAddressSpaceLimit(t *testing.T) {
	workplace(t)
	root := t.TempDir()
	system.Root = root
	defer func() { system.Root = "" }()
	if err := os.MkdirAll(filepath.Join(root, "proc/self"), 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, "proc", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("meminfo", "MemTotal: 67108864 kB\n")
	write("self/status", "VmSize:\t 1048576 kB\n") // 1 GiB
	for _, c := range []struct {
		limit, args string
		code        int
		want        string
	}{
		{"unlimited", "info g --max-memory 1GiB", shell.Done, ""},
		{"3221225472", "info g", shell.Done, ""},
		{"3221225472", "info g --max-memory 4GiB", shell.Done, "heatwalk: warning: limit 1.88 GB (ulimit -v) is used instead of 4.29 GB\n"},
		{"1342177280", "info g", shell.OverLimit, "heatwalk: ulimit -v: 1.34 GB of address space are too little for the program itself; allow 2.22 GB or more\n"},
	} {
		write("self/limits", "Limit                     Soft Limit           Hard Limit           Units     \n"+
			"Max address space         "+c.limit+"            unlimited            bytes     \n")
		var stderr bytes.Buffer
		code := Main(strings.Fields(c.args), nil, io.Discard, &stderr)
		if code != c.code || stderr.String() != c.want {
			t.Errorf("%s of %s: exit code %d, stderr: %s", c.args, c.limit, code, stderr.String())
		}
	}
}
