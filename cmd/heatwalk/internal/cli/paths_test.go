package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

// The first of two files must not be lost in silence.
func TestPathsGivenTwice(t *testing.T) {
	workplace(t)
	var visit func(cmd *cobra.Command, words []string)
	count := 0
	visit = func(cmd *cobra.Command, words []string) {
		for _, c := range cmd.Commands() {
			visit(c, append(words[:len(words):len(words)], c.Name()))
		}
		if cmd.HasSubCommands() {
			return
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if kind, _ := pflag.UnquoteUsage(f); kind != "FILE" && f.Name != "output" || f.Name == "continue" {
				return
			}
			count++
			var stderr bytes.Buffer
			args := append(words[:len(words):len(words)], "--"+f.Name, "first.file", "--"+f.Name, "second.file", "--json")
			code := Main(args, nil, io.Discard, &stderr)
			want := "it takes one path, and first.file and second.file are given"
			if code != shell.WrongUsage || !strings.Contains(stderr.String(), want) {
				t.Errorf("heatwalk %s: exit code %d\n%s", strings.Join(args, " "), code, &stderr)
			}
		})
	}
	visit(newRoot(shell.NewSession(context.Background(), nil, nil, nil, io.Discard, io.Discard)), nil)
	if count < 50 {
		t.Errorf("%d flags of files", count)
	}
}

func TestOtherNamesOfStreams(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no such names")
	}
	workplace(t)
	for name, text := range map[string]string{"edges.tsv": "a\tb\nb\tc\n", "known.tsv": "a\tx\nc\ty\n", "values.tsv": "a\t1\nb\t3\nc\t2\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"} {
		var stdout, stderr bytes.Buffer
		args := []string{"classify", "edges.tsv", "--labels", name, "--method", "lp"}
		if code := Main(args, strings.NewReader("a\tx\nc\ty\n"), &stdout, &stderr); code != 0 || !strings.HasPrefix(stdout.String(), "node\t") {
			t.Errorf("labels in %s: %d %s", name, code, &stderr)
		}
		args[1] = "/dev/stdin"
		if code := Main(args, strings.NewReader(""), io.Discard, &stderr); code != shell.WrongUsage || !strings.Contains(stderr.String(), "can be read once") {
			t.Errorf("edges in /dev/stdin, labels in %s: %d %s", name, code, &stderr)
		}
	}
	for _, line := range []string{
		"convert edges.tsv", "classify edges.tsv --labels known.tsv --method lp", "rank edges.tsv --seeds known.tsv", "generate er --nodes 5 --edges 4",
		"kernel edges.tsv --kernel diffusion", "features edges.tsv --labels known.tsv", "regress edges.tsv --values values.tsv --method harmonic",
		"suggest edges.tsv --labels known.tsv -n 1", "eigen edges.tsv -k 1 --matrix laplacian --which largest",
	} {
		succeed(t, nil, io.Discard, append(strings.Fields(line), "-o", os.DevNull)...)
	}
}
