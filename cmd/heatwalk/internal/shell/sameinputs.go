package shell

import (
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// checkedBytes is the largest part of an input file that processes compare.
const checkedBytes = 1 << 30

// agree returns an error that names the first part in which this process or another differs from process 0.
// sums has a checksum for each of the parts. All processes must call it with the same number of parts.
func (run *Session) agree(parts []string, sums []float64) error {
	if len(parts) == 0 {
		return nil
	}
	sumsOfAll := make([]float64, run.Network.Size()*len(sums))
	run.Network.AllGather(sumsOfAll, sums)
	for i, place := range parts {
		for p := range run.Network.Size() {
			if sumsOfAll[p*len(sums)+i] != sumsOfAll[i] {
				return DataError(place,
					"differs between processes 0 and %d of %d; give all processes the same, for example a copy of the file on each host", p, run.Network.Size())
			}
		}
	}
	return nil
}

func (run *Session) sameCommand() error {
	sum := func(text string) float64 { return float64(crc32.ChecksumIEEE([]byte(text))) }
	build := ThisBuild()
	return run.agree([]string{"heatwalk's version", "command line"},
		[]float64{sum(build.Version + " " + build.Commit), sum(fmt.Sprintf("%q", run.Line.Args))})
}

// sameInputs compares the input files of a command among the processes, because results computed from
// different inputs would be wrong.
func (run *Session) sameInputs(cmd *cobra.Command) error {
	inputs := inputPaths(cmd, cmd.Flags().Args())
	sums := make([]float64, len(inputs))
	for i, path := range inputs {
		sums[i] = fileSum(path)
	}
	return run.agree(inputs, sums)
}

// fileSum returns a checksum of a file or of the manifest of a store, and 0 for other paths. For a file
// larger than checkedBytes it covers the size and the first bytes.
func fileSum(path string) float64 {
	if IsDir(path) {
		path = filepath.Join(path, "manifest")
	}
	f, err := os.Open(path)
	if err != nil {
		return 0 // the command reports the error
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.Copy(sum,
		io.MultiReader(strings.NewReader(fmt.Sprint(info.Size(), ":")),
			io.LimitReader(f, checkedBytes))); err != nil {
		return 0
	}
	return float64(sum.Sum32())
}
