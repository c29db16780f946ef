package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/sides"
)

// Outputs are the files of a run. They are begun before any input is read, so that a full or read-only
// directory is found at once, and appear under their names together, when the run has succeeded.
type Outputs struct {
	Run     *Session
	Path    string            // path of the output; "": none
	Format  *tablefile.Format // format of a matrix; nil: the output is not a matrix
	Writer  io.Writer
	RowIDs  io.Writer // separate file for .npy
	ColIDs  io.Writer
	RunFile io.Writer
	Store   any // description of the graph of the run; nil: none

	files []*durable.Pending // an output before the files that belong to it
	ends  []func() error     // write the ends of compressed files
	pipe  *bufio.Writer      // stdout, if it is an output
}

// NewOutputs returns outputs without files, which the end of the command discards unless they are committed.
func NewOutputs(run *Session, path string) *Outputs {
	o := &Outputs{Run: run, Path: path}
	run.AtEnd(o.abort)
	return o
}

// BeginOutputs begins the output called path and the files next to it. If path is "", there is no output. If
// formats is not nil, the output may be a matrix in one of the formats.
func (run *Session) BeginOutputs(path string,
	formats []string) (o *Outputs, err error) {
	o = NewOutputs(run, path)
	if path == "" {
		return o, nil
	}
	if formats != nil {
		o.Format = MatrixFormatOf(path, formats)
	}
	run.NoteOutput(path)
	if o.Writer, err = o.Begin(path); err == nil && o.Format != nil && o.Format.SeparateIDs {
		err = o.BeginIDs()
	}
	if err == nil {
		o.RunFile, err = o.Companion(path, "", runFileEnding)
	}
	return o, err
}

// BeginIDs begins the files of the ids of the rows and columns.
func (o *Outputs) BeginIDs() (err error) {
	if o.RowIDs, err = o.Companion(o.Path, filepath.Ext(o.Path), ".rows.ids"); err == nil {
		o.ColIDs, err = o.Companion(o.Path, filepath.Ext(o.Path), ".cols.ids")
	}
	return err
}

// NodeArguments marks commands whose arguments after the first are nodes.
const NodeArguments = "heatwalk nodes"

// inputPaths returns the arguments of a command without nodes, and the values of its flags of input files.
// The paths may be "" and "-".
func inputPaths(cmd *cobra.Command, args []string) []string {
	inputs := slices.Clone(args)
	if _, hasNodes := cmd.Annotations[NodeArguments]; hasNodes {
		inputs = inputs[:min(1, len(inputs))]
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		path := f.Value.String()
		if accepted, isInput := f.Annotations[inputFile]; isInput && !slices.Contains(accepted, path) {
			inputs = append(inputs, path)
		}
	})
	return inputs
}

func (line *CommandLine) checkPaths(args []string) {
	inputs := inputPaths(line.Command, args)
	outputs := map[string]bool{}
	line.checkStdin(inputs...)
	line.Command.Flags().VisitAll(func(f *pflag.Flag) {
		formats, isOutput := f.Annotations[OutputFile]
		path := f.Value.String()
		flag := strings.Replace("--"+f.Name, "--output", "-o", 1)
		switch _, isSide := f.Annotations[sideFile]; {
		case !isOutput && f.Name == "output": // the command checks it
			outputs[filepath.Clean(path)] = true
		case !isOutput:
		case isSide && path == "-":
			line.Problem(flag, "it is a second output; name a file")
		case path != "" && outputs[filepath.Clean(path)]:
			line.Problem(flag, "%s is another output of this command; name another file", path)
		default:
			line.CheckOutput(flag, path, formats, inputs...)
			outputs[filepath.Clean(path)] = path != ""
		}
	})
}

// CheckOutput records problems of the path of an output. If formats are given, the path must end in one of
// them. The path of -o is required, and must not be an input or a file in a store.
func (line *CommandLine) CheckOutput(flag, path string, formats []string,
	inputs ...string) {
	line.inputFiles = append(line.inputFiles, inputs...)
	if ending := Ending(path); path != "" && !textio.IsStream(path) && !IsDir(path) &&
		formats != nil && !slices.Contains(formats, ending) {
		line.Problem(flag, "%s has no ending that names a format; give one of %s",
			path, strings.Join(formats, " "))
	} else if formats != nil && ending != strings.ToLower(filepath.Ext(path)) && !slices.Contains(lineEndings, ending) {
		line.Problem(flag, "%s files are written without %s; leave it out", ending, filepath.Ext(path))
	}
	switch {
	case path == "" && flag == "-o":
		endings := ""
		if formats != nil {
			endings = ", with an ending " + strings.Join(formats, " ")
		}
		line.Problem(flag, "the output is missing; write -o FILE%s", endings)
	case path == "":
	case path == "-" && line.Documents:
		line.Problem(flag, "- and --json both want stdout; name a file")
	case path == "-":
	case IsDir(path):
		line.Problem(flag, "%s is a directory; name a file", path)
	default:
		if dir := filepath.Dir(followLink(path)); IsThere(filepath.Join(dir,
			"manifest")) && ingest.IsStore(dir) {
			line.Problem(flag,
				"%s lies in the store %s, which never changes; name another place", path, dir)
			return
		}
		for _, input := range inputs {
			if sameFile(path, input) {
				line.Problem(flag, "%s is an input of this command; name another file", path)
				return
			}
		}
	}
}

func followLink(path string) string {
	if target, err := durable.OS.Follow(path); err == nil {
		return target
	}
	return path
}

func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func IsThere(path string) bool {
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

// NoteOutput records the state of the output for the message about an interruption.
func (run *Session) NoteOutput(path string) {
	run.OutputState = ""
	if path != "-" { // data on stdout cannot be taken back
		run.OutputState = FileState(path)
	}
}

// FileState describes a file whose new content was not published.
func FileState(path string) string {
	if IsThere(path) {
		return path + " is unchanged"
	}
	return path + " was not made"
}

// Begin begins the file called path, or stdout if path is "-". It compresses a file whose name says so. In a
// dry run it writes nothing.
func (o *Outputs) Begin(path string) (io.Writer, error) {
	w, err := o.beginWith(durable.NewFile, path)
	if err != nil {
		return nil, err
	}
	w, end, err := textio.Compress(w, path)
	o.ends = append(o.ends, end)
	return w, err
}

func (o *Outputs) beginWith(create func(durable.FS, string) (*durable.Pending, error), path string) (io.Writer, error) {
	if o.Run.Costs.DryRun || o.Run.IsFollower() {
		return nowhere{}, nil
	}
	if path == "-" {
		o.pipe = bufio.NewWriterSize(o.Run.Console.Stdout, 64<<10)
		return o.pipe, nil
	}
	f, err := create(durable.Until(o.Run.Context, durable.OS), path)
	if err != nil {
		return nil, o.notCreated(err, path)
	}
	// Without locks another run could then remove the temporary file.
	if f.IsUnlocked() {
		o.Run.Console.WarnOfError(fmt.Errorf("%s: %w", o.Path, durable.ErrNoLocks))
	}
	o.files = append(o.files, f)
	return f, nil
}

// WriteFile writes and publishes a single file. It does nothing if path is "".
func (run *Session) WriteFile(path string, write func(w io.Writer) error) error {
	if path == "" {
		return nil
	}
	o := NewOutputs(run, path)
	w, err := o.Begin(path)
	if err == nil {
		err = write(w)
	}
	if err == nil {
		err = o.Commit(nil)
	}
	return err
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

func (nowhere) WriteAt(p []byte, _ int64) (int, error) {
	return len(p), nil
}

func (o *Outputs) notCreated(err error, path string) error {
	if dir := filepath.Dir(followLink(path)); errors.Is(err, fs.ErrNotExist) && !IsDir(dir) {
		return MachineError(err, "create "+path,
			"there is no directory %s; make it first", dir)
	}
	return MachineError(err, "create "+path, "%s; choose another place for it",
		Cause(err))
}

// Companion begins a file whose name is path with cut at its end replaced by suffix. If path is stdout, a
// pipe or a device, the data is discarded.
func (o *Outputs) Companion(path, cut, suffix string) (io.Writer, error) {
	if textio.IsStream(path) {
		return io.Discard, nil
	}
	side := strings.TrimSuffix(path, cut) + suffix
	for _, input := range o.Run.Line.inputFiles {
		if sameFile(side, input) {
			return nil, UsageError("-o",
				"%s comes with the file %s, which is an input of this command; name another file", path, side)
		}
	}
	w, err := o.beginWith(durable.NewBeside, side)
	if failed := new(PlacedError); errors.As(err, &failed) {
		failed.Place = "create " + path // the path that the user gave
	}
	return w, err
}

// Publish writes the run file with the parameters and publishes all files of a run, the files that belong to
// the output first. If put is not nil, Publish then calls put to publish a store.
func (o *Outputs) Publish(parameters any, put func() error) error {
	if o.RunFile != nil {
		if err := o.writeRun(parameters); err != nil {
			return err
		}
	}
	return o.Commit(put)
}

// Commit publishes all files. If put is not nil, Commit then calls put to publish a store.
func (o *Outputs) Commit(put func() error) error {
	for _, end := range o.ends {
		if err := end(); err != nil {
			return err
		}
	}
	if o.pipe != nil {
		if err := o.pipe.Flush(); err != nil {
			return err
		}
	}
	if o.Run.Context.Err() != nil {
		return context.Cause(o.Run.Context)
	}
	files := o.files
	o.files = nil
	return durable.Commit(put, files...)
}

func (o *Outputs) abort() {
	for _, f := range o.files {
		_ = f.Abort() // after a failure, or after Commit
	}
}

// tempParent returns --temp-dir. Without it, it returns the directory of the output called path, whose disk
// has room for large files, or the directory of the system without such an output.
func (in *Inputs) tempParent(path string) string {
	switch {
	case in.tempDir != "":
		return in.tempDir
	case path == "" || path == "-":
		return os.TempDir()
	}
	return filepath.Dir(path)
}

// MakeTemp returns a temporary directory in tempParent, which the end of the command removes.
func (run *Session) MakeTemp(in *Inputs, output string) (*durable.TempDir, error) {
	parent := in.tempParent(output)
	t, err := durable.NewTempDir(parent)
	if err != nil {
		return nil, MachineError(err, "create a temporary directory in "+parent,
			"%s; choose another with --temp-dir", Cause(err))
	}
	run.AtEnd(func() {
		if err := t.Remove(); err != nil {
			run.Console.Warn("%s: could not be removed: %s", t.Path, Cause(err))
		}
	})
	return t, nil
}

// MakeTempContent creates a directory within a new temporary directory.
func (run *Session) MakeTempContent(in *Inputs,
	output string) (dir string, err error) {
	t, err := run.MakeTemp(in, output)
	if err != nil {
		return "", err
	}
	return t.Content(), durable.OS.Mkdir(t.Content())
}

// Cause returns the message of an error of the file system without operation and path.
func Cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// runFile is the content of OUT.run.json: how OUT came to be.
type runFile struct {
	Command    string        `json:"command"`
	Arguments  []string      `json:"arguments"`
	Directory  string        `json:"directory"`
	Build      Build         `json:"build"`
	Store      any           `json:"store,omitempty"`
	Origin     *sides.Origin `json:"origin,omitempty"`
	SelfLoops  int64         `json:"dropped_self_loops,omitempty"`
	Parameters any           `json:"parameters,omitempty"`
	Inputs     []RunInput    `json:"inputs,omitempty"`
	Started    string        `json:"started"`
	Finished   string        `json:"finished"`
	Closing
}

func (o *Outputs) writeRun(parameters any) error {
	run := o.Run
	directory, err := os.Getwd()
	if err != nil {
		return err
	}
	date := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	return encodeDocument(o.RunFile, &runFile{
		Command:    commandOf(run.Line.Args),
		Arguments:  run.Line.Args,
		Directory:  directory,
		Build:      ThisBuild(),
		Store:      o.Store,
		Origin:     run.Origin,
		SelfLoops:  run.droppedLoops,
		Parameters: parameters,
		Inputs:     run.listInputs(),
		Started:    date(run.Console.Started),
		Finished:   date(time.Now()),
		Closing:    run.Console.CloseRun(),
	})
}

// BuildPage returns a page about a document. The title contains the graph. The first facts are the command,
// the version, the date, the machine and the cost of the run.
func (run *Session) BuildPage(name string, doc document,
	graph string) (*report.Page, error) {
	closing := run.Console.CloseRun()
	doc.closeWith(closing)
	p, err := report.Build(name, doc)
	if err != nil {
		return nil, err
	}
	b := ThisBuild()
	version := "heatwalk " + b.Version
	if b.Commit != "" {
		version += ", commit " + b.Commit
	}
	machine := fmt.Sprintf("%s, %s, %s of memory", b.System,
		words.Counted(runtime.NumCPU(), "processor"), words.Bytes(system.Memory()))
	p.Title += ": " + filepath.Base(graph)
	facts := []report.Fact{{Name: "Graph", Value: graph}}
	if run.Origin != nil {
		facts = append(facts, report.Fact{Name: "Edges", Value: run.Origin.String()})
	}
	for _, in := range run.listInputs() {
		facts = append(facts, report.Fact{Name: "Input", Value: in.Name + ": " + in.describe()})
	}
	p.Run = append(append(facts, []report.Fact{
		{Name: "Command", Value: commandOf(run.Line.Args)},
		{Name: "Version", Value: version},
		{Name: "Date", Value: time.Now().UTC().Format("2006-01-02 15:04 UTC")},
		{Name: "Machine", Value: machine},
		{Name: "Cost", Value: fmt.Sprintf("%s, peak %s",
			words.Seconds(time.Since(run.Console.Started)),
			words.Bytes(closing.PeakMemoryBytes))},
	}...), p.Run...)
	for _, text := range closing.Warnings {
		p.Run = append(p.Run, report.Fact{Name: "Warning", Value: text})
	}
	return p, nil
}

func (run *Session) WritePage(w io.Writer, name string, doc document,
	graph string) error {
	p, err := run.BuildPage(name, doc, graph)
	if err != nil {
		return err
	}
	return p.WriteHTML(w)
}

var PageFormats = []string{".html"}
