package cli

import (
	"os"
	"os/exec"
	"testing"
)

func TestAddressSpace(t *testing.T) {
	const refused = "heatwalk: ulimit -v: 2048 MB of address space are too little for the program itself; allow 2.3 GB or more\n"
	for kilobytes, want := range map[string]string{"2000000": refused, "unlimited": ""} {
		command := exec.Command("sh", "-c", "ulimit -v "+kilobytes+` && exec "$0" version > version.txt`, os.Args[0])
		command.Dir = t.TempDir()
		command.Env = append(os.Environ(), "HEATWALK_TEST_MAIN=1")
		out, err := command.CombinedOutput()
		if string(out) != want || want == refused && command.ProcessState.ExitCode() != 5 {
			t.Errorf("ulimit -v %s: %v, %s", kilobytes, err, out)
		}
	}
}
