package cli

import (
	"context"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
)

// parses checks a command line of the examples, after replacing variables, without running it.
func parses(t *testing.T, words []string) {
	t.Helper()
	run := newSession(context.Background(), words, strings.NewReader(""), io.Discard, io.Discard)
	root := newRoot(run)
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root {
		t.Fatalf("%q: %v", words, err)
	}
	cmd.InheritedFlags() // those of the root belong to every command
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%q: %v", words, err)
	}
	for _, p := range run.problems {
		t.Errorf("%q: %s: %s", words, p.Place, p.What)
	}
	if len(cmd.Flags().Args()) == 0 {
		t.Errorf("%q: no argument", words)
	}
}

// The job array runs the command that it says, for every task.
func TestSlurmExample(t *testing.T) {
	script := example(t, "slurm.sh")
	shares := matched(t, script, `(?m)^shares=(\d+)`)
	last := matched(t, script, `--array=0-(\d+)`)
	if number(t, shares) != number(t, last)+1 {
		t.Errorf("%s shares, array to %s", shares, last)
	}
	script = strings.ReplaceAll(script, "\\\n", " ")
	line := matched(t, script, `(?m)^heatwalk (kernel .*)$`)
	for task := range number(t, shares) {
		words := strings.NewReplacer(`"`, "", "$SLURM_ARRAY_TASK_ID", strconv.Itoa(task), "$shares", shares, "$SLURM_CPUS_PER_TASK", "4").Replace(line)
		parses(t, strings.Fields(words))
	}
	parses(t, strings.Fields(matched(t, script, `'heatwalk (merge [^']*)'`)))
}

// The Indexed Job has as many completions as shares, only keys that such a job
// has, and runs a command that exists.
func TestKubernetesExample(t *testing.T) {
	manifest := example(t, "kubernetes.yaml")
	for _, want := range []string{
		"apiVersion: batch/v1", "kind: Job", "completionMode: Indexed", "restartPolicy: Never",
		"fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']",
	} {
		if !strings.Contains(manifest, want+"\n") {
			t.Errorf("%q is missing", want)
		}
	}
	completions := matched(t, manifest, `(?m)^  completions: (\d+)$`)
	if shares := matched(t, manifest, `- name: SHARES[^\n]*\n *value: "(\d+)"`); shares != completions {
		t.Errorf("%s completions, %s shares", completions, shares)
	}
	known := strings.Fields(`apiVersion kind metadata name spec completionMode completions parallelism backoffLimitPerIndex
		maxFailedIndexes podFailurePolicy rules action onPodConditions type onExitCodes containerName operator values
		template restartPolicy containers image env valueFrom fieldRef fieldPath value command args resources requests
		limits volumeMounts mountPath volumes persistentVolumeClaim claimName`)
	depth := []int{-1}
	for i, line := range strings.Split(manifest, "\n") {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		if text == "" || text[0] == '#' {
			continue
		}
		if strings.Contains(line, "\t") || indent%2 != 0 {
			t.Errorf("line %d: indented by something else than pairs of blanks", i+1)
		}
		for depth[len(depth)-1] > indent {
			depth = depth[:len(depth)-1]
		}
		if top := depth[len(depth)-1]; indent > top {
			if top >= 0 && indent-top > 4 {
				t.Errorf("line %d: indented too far", i+1)
			}
			depth = append(depth, indent)
		}
		key, _, isKey := strings.Cut(strings.TrimPrefix(text, "- "), ":")
		if isKey && !strings.Contains(key, "=") && !slices.Contains(known, key) {
			t.Errorf("line %d: a Job has no key %q", i+1, key)
		}
	}
	_, after, _ := strings.Cut(manifest, "args:\n")
	var words []string
	for line := range strings.Lines(after) {
		arg, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			break
		}
		words = append(words, arg)
	}
	for index := range number(t, completions) {
		line := strings.NewReplacer("$(SHARES)", completions, "$(SHARE)", strconv.Itoa(index)).Replace(strings.Join(words, "\n"))
		parses(t, strings.Split(line, "\n"))
	}
	codes := matched(t, manifest, `values: \[([\d, ]+)\]`)
	for _, code := range []int{fault.WrongUsage, fault.WrongData, fault.DamagedStore, fault.OverLimit} {
		if !slices.Contains(strings.Split(codes, ", "), strconv.Itoa(code)) {
			t.Errorf("exit code %d is tried again", code)
		}
	}
}

func example(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../../../examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// matched returns the match of the only group of a pattern.
func matched(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("nothing matches %s", pattern)
	}
	return m[1]
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
