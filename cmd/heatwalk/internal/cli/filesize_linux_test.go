package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

func TestFileTooLarge(t *testing.T) {
	workplace(t)
	before := tree(t, ".")
	for _, args := range [][]string{
		{"generate", "grid", "--rows", "300", "--columns", "300", "-o", "grid.tsv"},
		{"generate", "grid", "--rows", "300", "--columns", "300", "-o", "grid/"},
	} {
		command := exec.Command("sh", append([]string{"-c", `ulimit -f 8 && exec "$0" "$@"`, os.Args[0]}, args...)...)
		command.Env = append(os.Environ(), "HEATWALK_TEST_MAIN=1")
		out, _ := command.CombinedOutput()
		if code := command.ProcessState.ExitCode(); code != shell.MachineFailed || strings.Count(string(out), "\n") != 1 ||
			!strings.HasPrefix(string(out), "heatwalk: ") || !strings.HasSuffix(string(out), ": file too large; allow larger files with ulimit -f, or write to another disk\n") {
			t.Errorf("%s: exit code %d: %s", strings.Join(args, " "), code, out)
		}
		if after := tree(t, "."); after != before {
			t.Errorf("%s: left\n%s\nwant\n%s", strings.Join(args, " "), after, before)
		}
	}
}
