package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
)

// product describes the files of a run: an output with a run file and possibly files of ids, and
// other files. They are begun before any input is read, so that a full or read-only
// directory is found at once, and appear under their names together, when the run has
// succeeded.
type outputs struct {
	run     *session
	path    string            // of the output, "" for none
	format  *tablefile.Format // of a matrix; nil: the output is none
	w       io.Writer         // of the output
	rowIDs  io.Writer         // separate file for .npy
	colIDs  io.Writer
	runFile io.Writer
	store   any         // description of the graph of the run; nil: none
	share   *parts.Part // which part of a whole the output is, nil if it is the whole

	files []*durable.Pending // an output before the files that belong to it
	pipe  *bufio.Writer      // stdout, if it is one of them
}

// newOutputs returns a product without files, which are given up at the end of the command
// unless they are committed.
func newOutputs(run *session, path string) *outputs {
	o := &outputs{run: run, path: path}
	run.atEnd(o.abort)
	return o
}

// beginOutputs begins the output called path, unless that is "", which can be a matrix if there are formats, and the
// files next to it.
func beginOutputs(run *session, path string,
	formats []string) (o *outputs, err error) {
	o = newOutputs(run, path)
	if path == "" {
		return o, nil
	}
	if formats != nil {
		o.format = matrixFormatOf(path, formats)
	}
	keeps(run, path)
	if o.w, err = o.begin(path); err == nil && o.format != nil && o.format.SeparateIDs {
		if o.rowIDs, err = o.companion(path, filepath.Ext(path), ".rows.ids"); err == nil {
			o.colIDs, err = o.companion(path, filepath.Ext(path), ".cols.ids")
		}
	}
	if err == nil {
		o.runFile, err = o.companion(path, "", ".run.json")
	}
	return o, err
}

// endingOf returns the ending of a path in small letters.
func endingOf(path string) string {
	return strings.ToLower(filepath.Ext(path))
}

// formatOf returns the ending of path if it is among the formats, or else the
// first of them, which also is the format of stdout.
func formatOf(path string, formats []string) string {
	ending := endingOf(path)
	if slices.Contains(formats, ending) {
		return ending
	}
	return formats[0]
}

// outputFlag declares the flag of an output, whose name must end in one of the formats unless they are nil.
func outputFlag(flags *flagSet, p *string, name, initial, usage string,
	formats []string) {
	flags.StringVarP(p, name, map[string]string{"output": "o"}[name],
		initial, usage)
	flags.Lookup(name).Annotations = map[string][]string{outputFile: formats}
}

// sideFlag declares the flag of a file in addition to the output of a command, which stdout is for.
func sideFlag(flags *flagSet, p *string, name, usage string, formats []string) {
	outputFlag(flags, p, name, "", usage, formats)
	flags.Lookup(name).Annotations[sideFile] = nil
}

// outputFile marks the flags of outputs, sideFile those of side files, and nodeArguments commands whose arguments behind
// the first one are nodes.
const (
	nodeArguments = "heatwalk nodes"
	outputFile    = "heatwalk output"
	sideFile      = "heatwalk side file"
)

// inputPaths returns the inputs of a command, "" and "-" included: its arguments but for nodes, and the values of flags that show FILE
// or TABLE in their usage and are not outputs.
func inputPaths(cmd *cobra.Command, args []string) []string {
	inputs := slices.Clone(args)
	if _, hasNodes := cmd.Annotations[nodeArguments]; hasNodes {
		inputs = inputs[:min(1, len(inputs))]
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		kind, _ := pflag.UnquoteUsage(f)
		_, isOutput := f.Annotations[outputFile]
		if path := f.Value.String(); (kind == "FILE" || kind == "TABLE") && !isOutput && f.Name != "output" && (f.DefValue == "" || path == "-") { // others have words too
			inputs = append(inputs, path)
		}
	})
	return inputs
}

// checkPaths records problems of the inputs and outputs of a command.
func checkPaths(line *commandLine, args []string) {
	inputs := inputPaths(line.command, args)
	outputs := map[string]bool{}
	checkStdin(line, inputs...)
	line.command.Flags().VisitAll(func(f *pflag.Flag) {
		formats, isOutput := f.Annotations[outputFile]
		path := f.Value.String()
		flag := strings.Replace("--"+f.Name, "--output", "-o", 1)
		switch _, isSide := f.Annotations[sideFile]; {
		case !isOutput && f.Name == "output": // the command checks it
			outputs[filepath.Clean(path)] = true
		case !isOutput:
		case isSide && path == "-":
			line.problem(flag, "it is a second output; name a file")
		case path != "" && outputs[filepath.Clean(path)]:
			line.problem(flag, "%s is another output of this command; name another file", path)
		default:
			checkOutput(line, flag, path, formats, inputs...)
			outputs[filepath.Clean(path)] = path != ""
		}
	})
}

// checkOutput records problems of the path of an output. It must have the ending of one of the formats,
// if any are given. The path of -o is required, and must not be an input or a file in a store.
func checkOutput(line *commandLine, flag, path string, formats []string,
	inputs ...string) {
	line.inputFiles = append(line.inputFiles, inputs...)
	if ending := endingOf(path); path != "" && path != "-" && !isDir(path) &&
		formats != nil && !slices.Contains(formats, ending) {
		line.problem(flag, "%s has no ending that names a format; give one of %s",
			path, strings.Join(formats, " "))
	}
	switch {
	case path == "" && flag == "-o":
		endings := ""
		if formats != nil {
			endings = ", with an ending " + strings.Join(formats, " ")
		}
		line.problem(flag, "the output is missing; write -o FILE%s", endings)
	case path == "":
	case path == "-" && line.documents:
		line.problem(flag, "- and --json both want stdout; name a file")
	case path == "-":
	case isDir(path):
		line.problem(flag, "%s is a directory; name a file", path)
	default:
		if dir := filepath.Dir(followLink(path)); isThere(filepath.Join(dir,
			"manifest")) && ingest.IsStore(dir) {
			line.problem(flag,
				"%s lies in the store %s, which never changes; name another place", path, dir)
			return
		}
		for _, input := range inputs {
			if sameFile(path, input) {
				line.problem(flag, "%s is an input of this command; name another file", path)
				return
			}
		}
	}
}

// followLink returns what path leads to if it is a link.
func followLink(path string) string {
	if target, err := durable.OS.Follow(path); err == nil {
		return target
	}
	return path
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func sameFile(a, b string) bool {
	infoA, err := os.Stat(a)
	if err != nil {
		return false
	}
	infoB, err := os.Stat(b)
	return err == nil && os.SameFile(infoA, infoB)
}

// keeps notes the output that an interruption leaves as it is.
func keeps(run *session, path string) {
	run.doing = ""
	if path != "-" { // data on stdout cannot be taken back
		run.doing = stateOf(path)
	}
}

// stateOf returns the state of a file that is not published.
func stateOf(path string) string {
	if isThere(path) {
		return path + " is unchanged"
	}
	return path + " was not made"
}

// begin begins the file path, stdout for "-", nothing for an estimate.
func (o *outputs) begin(path string) (io.Writer, error) {
	return o.beginWith(durable.NewFile, path)
}

func (o *outputs) beginWith(create func(durable.FS, string) (*durable.Pending, error), path string) (io.Writer, error) {
	if o.run.costs.estimating || o.run.isFollower() {
		return nowhere{}, nil
	}
	if path == "-" {
		o.pipe = bufio.NewWriterSize(o.run.console.stdout, 64<<10)
		return o.pipe, nil
	}
	f, err := create(durable.Until(o.run.ctx, durable.OS), path)
	if err != nil {
		return nil, o.notCreated(err, path)
	}
	o.add(f)
	return f, nil
}

// writeFile writes a file of its own, unless path is "".
func writeFile(run *session, path string, write func(w io.Writer) error) error {
	if path == "" {
		return nil
	}
	o := newOutputs(run, path)
	w, err := o.begin(path)
	if err == nil {
		err = write(w)
	}
	if err == nil {
		err = o.commit(nil)
	}
	return err
}

// nowhere is a file that does not exist.
type nowhere struct{}

// Write implements [io.Writer].
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// WriteAt implements [io.WriterAt].
func (nowhere) WriteAt(p []byte, _ int64) (int, error) {
	return len(p), nil
}

// add adds a file that the run publishes. Where the file system has no locks, another run could
// remove its temporary file.
func (o *outputs) add(f *durable.Pending) {
	if f.IsUnlocked() {
		o.run.console.warnOf(fmt.Errorf("%s: %w", o.path, durable.ErrNoLocks))
	}
	o.files = append(o.files, f)
}

// notCreated is the error of a file that could not be created.
func (o *outputs) notCreated(err error, path string) error {
	if dir := filepath.Dir(followLink(path)); errors.Is(err, fs.ErrNotExist) && !isDir(dir) {
		return fault.Machine(err, "create "+path,
			"there is no directory %s; make it first", dir)
	}
	return fault.Machine(err, "create "+path, "%s; choose another place for it",
		cause(err))
}

// companion begins a file that belongs to the output path. Its name is path with suffix in place of cut.
// It returns nil for stdout, a pipe or a device.
func (o *outputs) companion(path, cut, suffix string) (io.Writer, error) {
	if textio.IsStream(path) {
		return io.Discard, nil
	}
	side := strings.TrimSuffix(path, cut) + suffix
	for _, input := range o.run.line.inputFiles {
		if sameFile(side, input) {
			return nil, fault.Usage("-o",
				"%s comes with the file %s, which is an input of this command; name another file", path, side)
		}
	}
	w, err := o.beginWith(durable.NewBeside, side)
	if failed := new(fault.Placed); errors.As(err, &failed) {
		failed.Place = "create " + path // the path that the user gave
	}
	return w, err
}

// publish publishes all files of a run, the files that belong to the output first, and calls put, unless
// it is nil, to publish a store.
func (o *outputs) publish(parameters any, put func() error) error {
	if o.runFile != nil {
		if err := writeRun(o, parameters); err != nil {
			return err
		}
	}
	return o.commit(put)
}

// commit publishes all files, around what put puts in place unless it is nil.
func (o *outputs) commit(put func() error) error {
	if o.pipe != nil {
		if err := o.pipe.Flush(); err != nil {
			return err
		}
	}
	if o.run.ctx.Err() != nil {
		return context.Cause(o.run.ctx)
	}
	files := o.files
	o.files = nil
	return durable.Commit(put, files...)
}

// abort discards files that were not committed.
func (o *outputs) abort() {
	for _, f := range o.files {
		_ = f.Abort() // the run has failed already, or this is after commit
	}
}

// tempParent returns the directory for temporary files: --temp-dir, or that of the output called
// path, because it is on a disk with room for large files.
func tempParent(in *inputs, path string) string {
	switch {
	case in.tempDir != "":
		return in.tempDir
	case path == "" || path == "-":
		return os.TempDir()
	}
	return filepath.Dir(path)
}

// makeTemp returns a temporary directory in tempParent, which is removed when the command ends.
func makeTemp(run *session, in *inputs, output string) (*durable.TempDir, error) {
	parent := tempParent(in, output)
	t, err := durable.NewTempDir(parent)
	if err != nil {
		return nil, fault.Machine(err, "create a temporary directory in "+parent,
			"%s; choose another with --temp-dir", cause(err))
	}
	run.atEnd(func() {
		if err := t.Remove(); err != nil {
			run.console.warn("%s: could not be removed: %s", t.Path, cause(err))
		}
	})
	return t, nil
}

// makeTempContent makes a directory in a temporary one.
func makeTempContent(run *session, in *inputs,
	output string) (dir string, err error) {
	t, err := makeTemp(run, in, output)
	if err != nil {
		return "", err
	}
	return t.Content(), durable.OS.Mkdir(t.Content())
}

// cause returns the message of an error of the file system without operation and path.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// runFile is the content of OUT.run.json: how OUT came to be.
type runFile struct {
	Command    string      `json:"command"`
	Arguments  []string    `json:"arguments"`
	Directory  string      `json:"directory"`
	Build      build       `json:"build"`
	Store      any         `json:"store,omitempty"`
	SelfLoops  int64       `json:"dropped_self_loops,omitempty"`
	Parameters any         `json:"parameters,omitempty"`
	Part       *parts.Part `json:"part,omitempty"` // of a whole that merge puts together
	Finished   string      `json:"finished"`
	Closing
}

// writeRun writes the run file of a run that chose the given parameters.
func writeRun(o *outputs, parameters any) error {
	run := o.run
	directory, err := os.Getwd()
	if err != nil {
		return err
	}
	return encodeDocument(o.runFile, &runFile{
		Command:    shellLine(run.line.args),
		Arguments:  run.line.args,
		Directory:  directory,
		Build:      thisBuild(),
		Store:      o.store,
		SelfLoops:  run.droppedLoops,
		Parameters: parameters,
		Part:       o.share,
		Finished:   time.Now().UTC().Format(time.RFC3339),
		Closing:    closingOfRun(run.console),
	})
}

// plainArgument matches arguments that need no quotes in a shell.
var plainArgument = regexp.MustCompile(`^[a-zA-Z0-9_./=,:+@%-]+$`)

// shellLine writes arguments as a line that a shell takes apart again.
func shellLine(args []string) string {
	words := []string{"heatwalk"}
	for _, arg := range args {
		if !plainArgument.MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// buildPage returns the page of a name about a document and a graph: its title names the graph, and its first facts are
// the command, the version, the date, the machine and the cost of the run.
func buildPage(run *session, name string, doc document,
	graph string) (*report.Page, error) {
	closing := closingOfRun(run.console)
	doc.closeWith(closing)
	p, err := report.Build(name, doc)
	if err != nil {
		return nil, err
	}
	b := thisBuild()
	version := "heatwalk " + b.Version
	if b.Commit != "" {
		version += ", commit " + b.Commit
	}
	machine := fmt.Sprintf("%s, %s, %s of memory", b.System,
		words.Counted(runtime.NumCPU(), "processor"), words.Bytes(system.Memory()))
	p.Title += ": " + filepath.Base(graph)
	p.Run = append([]report.Fact{
		{Name: "Graph", Value: graph},
		{Name: "Command", Value: shellLine(run.line.args)},
		{Name: "Version", Value: version},
		{Name: "Date", Value: time.Now().UTC().Format("2006-01-02 15:04 UTC")},
		{Name: "Machine", Value: machine},
		{Name: "Cost", Value: fmt.Sprintf("%s, peak %s",
			words.Seconds(time.Since(run.console.started)),
			words.Bytes(closing.PeakMemoryBytes))},
	}, p.Run...)
	for _, text := range closing.Warnings {
		p.Run = append(p.Run, report.Fact{Name: "Warning", Value: text})
	}
	return p, nil
}

// writePage writes the page of buildPage.
func writePage(run *session, w io.Writer, name string, doc document,
	graph string) error {
	p, err := buildPage(run, name, doc, graph)
	if err != nil {
		return err
	}
	return p.WriteHTML(w)
}

// pageFormats are the endings of a page.
var pageFormats = []string{".html"}
