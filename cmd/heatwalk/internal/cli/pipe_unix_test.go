//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A run waits for a pipe without a writer, or without a reader, until it is interrupted.
func TestInterruptPipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"e.tsv": "a\tb\nb\tc\nc\td\nd\ta\n", "l.tsv": "a\tx\nc\ty\nb\tx\nd\ty\n", "x.svm": "0 1:1\n0 2:1\n0 1:2\n0 2:3\n", "t.csv": "node,h\na,1\nb,2\nc,1\nd,2\n", "some": "", "part.run.json": `{"origin":{},"part":{"of":1,"matrix":{"axis":"columns","dtype":"float32"}}}`, "choice.run.json": `{"origin":{},"part":{"of":1}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "many"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, pipe := range []string{"pipe", "pipe.csv", "many/graph.txt", "some.run.json", "part", "choice", "full"} {
		if err := syscall.Mkfifo(filepath.Join(dir, pipe), 0o600); err != nil {
			t.Skip(err)
		}
	}
	full, err := os.OpenFile(filepath.Join(dir, "full"), os.O_RDWR, 0) // a pipe without a reader
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	commands := []string{
		"classify e.tsv --labels l.tsv --node-features pipe",
		"evaluate e.tsv --labels l.tsv --grid pipe",
		"generate grid -o pipe",
	}
	if !testing.Short() {
		commands = append(commands,
			"classify pipe --labels l.tsv",
			"classify e.tsv --labels pipe",
			"classify e.tsv --labels l.tsv --truth pipe",
			"classify e.tsv --labels l.tsv --node-features x.svm --feature-ids pipe",
			"classify e.tsv --labels l.tsv --method cwk --prior pipe",
			"records classify pipe.csv --labels l.tsv --kernel hypercube",
			"records classify t.csv --labels pipe --kernel hypercube",
			"evaluate e.tsv --labels l.tsv --split pipe",
			"info e.tsv --labels pipe",
			"ingest e.tsv --nodes pipe -o g",
			"ingest --neighbours 1 --of x.svm --feature-ids pipe -o g",
			"kernel e.tsv --kernel diffusion --rows pipe -o K.npy",
			"kernel e.tsv --kernel diffusion --cols pipe -o K.npy",
			"convert x.svm --labels pipe -o y.svm",
			"generate grid -o full",
			"convert e.tsv -o pipe --to tsv",
			"graphs evaluate many --kernel label-pair",
		)
	}
	waits := func() { time.Sleep(50 * time.Millisecond) }
	before := names(t, dir)
	for _, command := range commands {
		message := ended(t, program(t, dir, strings.Fields(command)...), os.Interrupt, waits)
		lines := strings.Split(strings.TrimSuffix(message, "\n"), "\n") // files read before the pipe may have reports
		if !strings.HasPrefix(lines[len(lines)-1], "heatwalk: interrupted") {
			t.Errorf("%s: stderr: %s", command, message)
		}
		if after := names(t, dir); after != before {
			t.Errorf("%s left %s, want %s", command, after, before)
		}
	}
}
