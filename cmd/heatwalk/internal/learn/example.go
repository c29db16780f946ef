package learn

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/durable"
)

// exampleFiles has the files that the commands of README.md and docs read: the Cora citation graph, and small
// synthetic files.
//
//go:embed cora/*.gz cora/*.tsv example
var exampleFiles embed.FS

const (
	coraEdges  = "cora/edges.tsv.gz"
	coraLabels = "cora/labels.tsv.gz"
)

func openExample(name string) io.Reader {
	content, err := exampleFiles.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return bytes.NewReader(content)
}

type savedDocument struct {
	Directory string   `json:"directory"`
	Files     []string `json:"files"`
	shell.Closing
}

// saveExamples writes the files of the examples into a directory, which must be new or empty.
func saveExamples(run *shell.Session, dir string) error {
	if names, err := durable.OS.List(dir); err == nil && len(names) > 0 {
		return shell.UsageError("--save", "%s is not empty; name a new directory", dir)
	}
	if !shell.IsDir(dir) {
		if err := durable.OS.Mkdir(dir); err != nil {
			return shell.MachineError(err, "create "+dir, "%s; choose another place for it", shell.Cause(err))
		}
	}
	outputs := shell.NewOutputs(run, dir)
	d := &savedDocument{Directory: dir}
	err := fs.WalkDir(exampleFiles, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		d.Files = append(d.Files, path.Base(name))
		content := openExample(name)
		if strings.HasSuffix(name, ".gz") { // outputs compress it
			if content, err = gzip.NewReader(content); err != nil {
				return err
			}
		}
		w, err := outputs.Begin(filepath.Join(dir, path.Base(name)))
		if err == nil {
			_, err = io.Copy(w, content)
		}
		return err
	})
	if err == nil {
		err = outputs.Commit(nil)
	}
	if err != nil {
		return err
	}
	return run.Console.PrintResult(d, func(w io.Writer) {
		fmt.Fprintf(w, `%s has the %d files that the commands of README.md and docs read.
Try it there:
  cd %[1]s
  heatwalk classify relations.csv --labels known.csv --node-features accounts.csv -o frauds.csv --report frauds.html
`, dir, len(d.Files))
	})
}
