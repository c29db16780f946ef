package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestDifferentInputs(t *testing.T) {
	dir := t.TempDir()
	files := [2]string{filepath.Join(dir, "0.tsv"), filepath.Join(dir, "1.tsv")}
	for i, path := range files {
		if err := os.WriteFile(path, []byte("a b\nb c\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		same := path + ".same"
		if err := os.WriteFile(same, fmt.Appendf(nil, "a b\nb %d\n", i), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err := testgraph.Processes(2, func(n sparse.Network) error {
		run := NewSession(t.Context(), nil, []string{"eigen", files[n.Rank()]}, nil, nil, nil)
		run.Network = n
		if err := run.sameCommand(); err == nil || !strings.HasPrefix(err.Error(), "command line: differs between processes 0 and 1 of 2") {
			t.Errorf("command line: error %v", err)
		}
		cmd := &cobra.Command{}
		if err := run.agree([]string{"file"}, []float64{fileSum(files[n.Rank()])}); err != nil {
			t.Error(err)
		}
		if err := cmd.ParseFlags([]string{files[n.Rank()] + ".same"}); err != nil {
			return err
		}
		if err := run.sameInputs(cmd); err == nil || !strings.Contains(err.Error(), ".same: differs between processes 0 and 1 of 2") || ExitCode(err) != WrongData {
			t.Errorf("inputs: error %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The larger limit that the error names must suffice.
func TestLimitOfProcesses(t *testing.T) {
	costs := &Costs{maxMemory: 600e6, Memory: 500e6, libraries: 100e6}
	over := &budget.Error{Need: 900e6, Limit: 500e6}
	over.Largest.What = "blocks"
	if got, want := costs.overLimit(over, "").Error(), "--max-memory: 600 MB is too little for blocks; allow 1.06 GB or more"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
