package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

// parses checks a command line without running it.
func parses(t *testing.T, words []string) {
	t.Helper()
	run := shell.NewSession(context.Background(), nil, words, strings.NewReader(""), io.Discard, io.Discard)
	root := newRoot(run)
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root {
		t.Fatalf("%q: %v", words, err)
	}
	cmd.InheritedFlags() // makes flags of the root belong to the command
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%q: %v", words, err)
	}
	if err := run.Line.JoinProblems(); err != nil {
		t.Errorf("%q: %v", words, err)
	}
	if len(cmd.Flags().Args()) == 0 {
		t.Errorf("%q: no argument", words)
	}
}

func TestSlurmExample(t *testing.T) {
	script := strings.ReplaceAll(example(t, "slurm.sh"), "\\\n", " ")
	parses(t, strings.Fields(matched(t, script, `heatwalk-mpi (kernel .*)`)))
}

func manifestOf(t *testing.T, name string) string {
	t.Helper()
	manifest := example(t, name)
	image, err := os.ReadFile("../../../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	program := matched(t, string(image), `ENTRYPOINT \["(.*)"\]`)
	user := matched(t, string(image), `(?m)^USER (\d+):`)
	for _, want := range []string{
		"apiVersion: batch/v1", "restartPolicy: Never", `command: ["` + program + `"]`, "runAsUser: " + user, "fsGroup: " + user, "mountPath: " + matched(t, string(image), `TMPDIR=(.*)`),
	} {
		if !strings.Contains(manifest, want+"\n") {
			t.Errorf("%s: %q is missing", name, want)
		}
	}
	known := strings.Fields(`apiVersion kind metadata name spec completionMode completions parallelism backoffLimitPerIndex
		maxFailedIndexes podFailurePolicy rules action onPodConditions type onExitCodes containerName operator values
		template restartPolicy containers image env valueFrom fieldRef fieldPath value command args resources requests
		limits volumeMounts mountPath volumes persistentVolumeClaim claimName securityContext runAsNonRoot runAsUser
		runAsGroup fsGroup schedule timeZone concurrencyPolicy startingDeadlineSeconds jobTemplate backoffLimit
		activeDeadlineSeconds`)
	depth := []int{-1}
	for i, line := range strings.Split(manifest, "\n") {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		if text == "" || text[0] == '#' {
			continue
		}
		if strings.Contains(line, "\t") || indent%2 != 0 {
			t.Errorf("%s:%d: indented by something else than pairs of blanks", name, i+1)
		}
		for depth[len(depth)-1] > indent {
			depth = depth[:len(depth)-1]
		}
		if top := depth[len(depth)-1]; indent > top {
			if top >= 0 && indent-top > 4 {
				t.Errorf("%s:%d: indented too far", name, i+1)
			}
			depth = append(depth, indent)
		}
		key, _, isKey := strings.Cut(strings.TrimPrefix(text, "- "), ":")
		if isKey && !strings.Contains(key, "=") && !slices.Contains(known, key) {
			t.Errorf("%s:%d: a Job has no key %q", name, i+1, key)
		}
	}
	codes := matched(t, manifest, `values: \[([\d, ]+)\]`)
	for _, code := range []int{shell.WrongUsage, shell.WrongData, shell.DamagedStore, shell.OverLimit} {
		if !slices.Contains(strings.Split(codes, ", "), strconv.Itoa(code)) {
			t.Errorf("%s: exit code %d is tried again", name, code)
		}
	}
	return manifest
}

func argumentsIn(manifest string) (words []string) {
	_, after, _ := strings.Cut(manifest, "args:\n")
	for line := range strings.Lines(after) {
		arg, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !isItem {
			break
		}
		words = append(words, arg)
	}
	return words
}

func TestNightlyExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	examples, err := filepath.Abs("../../../../examples/deploy")
	if err != nil {
		t.Fatal(err)
	}
	manifest := manifestOf(t, "kubernetes.yaml")
	units := example(t, "heatwalk.service") + example(t, "heatwalk.timer")
	page, err := os.ReadFile("../../../../docs/run.md")
	if err != nil {
		t.Fatal(err)
	}
	saveExamples(t)
	succeed(t, nil, io.Discard, "classify", "payments.csv", "--labels", "checked.csv", "--nodes", "checked.ids", "--save-model", "fraud.model", "-o", "want.csv")
	want := string(content(t, "want.csv"))
	check := func(what, output string) {
		t.Helper()
		if string(content(t, output)) != want {
			t.Errorf("%s: other predictions", what)
		}
		if err := os.Remove(output); err != nil {
			t.Fatal(err)
		}
	}
	var words []string
	for _, arg := range argumentsIn(manifest) {
		words = append(words, strings.ReplaceAll(arg, "/data/", ""))
	}
	succeed(t, nil, io.Discard, words...)
	check("kubernetes.yaml", "predictions.csv")
	docker := matched(t, string(page), "`docker run [^`]* heatwalk (predict [^`]*)`")
	succeed(t, nil, io.Discard, strings.Fields(strings.ReplaceAll(docker, "tuesday.csv", "payments.csv"))...)
	check("docker", "tomorrow.csv")

	bin := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "heatwalk")); err != nil {
		t.Skip(err)
	}
	nightly := func() (code int, messages string) {
		command := exec.Command("sh", filepath.Join(examples, "nightly.sh"), ".")
		command.Env = append(os.Environ(), "HEATWALK_TEST_MAIN=1", "PATH="+bin+":"+os.Getenv("PATH"))
		text, _ := command.CombinedOutput()
		return command.ProcessState.ExitCode(), string(text)
	}
	if code, messages := nightly(); code != 0 || messages != "" || !strings.Contains(string(content(t, "last/predictions.json")), `"predicted": `) {
		t.Errorf("nightly.sh: exit code %d: %s", code, messages)
	}
	check("nightly.sh", "last/predictions.csv")
	document := content(t, "last/predictions.json")
	for _, record := range [][]byte{document, content(t, "last/predictions.csv.run.json")} {
		if bytes.Contains(record, []byte(".part")) {
			t.Errorf("a record names a folder that is no more: %s", record)
		}
	}
	for _, use := range []string{units, string(page)} {
		if !strings.Contains(use, "/usr/local/bin/nightly.sh /var/lib/heatwalk\n") && !strings.Contains(use, "/usr/local/bin/nightly.sh /var/lib/heatwalk`") {
			t.Error("a unit or the page calls another script")
		}
	}
	if err := os.Remove("payments.csv"); err != nil {
		t.Fatal(err)
	}
	if code, messages := nightly(); code != shell.WrongUsage || !strings.Contains(messages, "payments.csv") {
		t.Errorf("nightly.sh without payments.csv: exit code %d: %s", code, messages)
	}
	if !bytes.Equal(content(t, "last/predictions.json"), document) {
		t.Error("a night that failed changed the document")
	}
	// A run that has not ended keeps its folder.
	if err := os.MkdirAll("nights/begun", 0o777); err != nil {
		t.Fatal(err)
	}
	begun := exec.Command("flock", "lock", "sh", "-c", "echo locked; read line")
	end, err := begun.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := begun.StdoutPipe()
	if err == nil {
		err = begun.Start()
	}
	if err == nil {
		_, err = out.Read(make([]byte, len("locked\n")))
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, messages := nightly(); code != 1 || !strings.Contains(messages, "has not ended") {
		t.Errorf("nightly.sh beside another run: exit code %d: %s", code, messages)
	}
	end.Close()
	_ = begun.Wait() // read fails at the end of its input
	if err := os.Remove("nights/begun"); err != nil {
		t.Error(err)
	}
	if nights, err := os.ReadDir("nights"); err != nil || len(nights) != 1 {
		t.Errorf("nights has %v: %v", nights, err)
	}
}

func example(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../../../examples/deploy/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func matched(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("nothing matches %s", pattern)
	}
	return m[1]
}
