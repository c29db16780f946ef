package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/durable"
)

// setting matches a setting that says how a table is read.
const setting = `\{((?:fields|label-fields|attribute-fields|header|delimiter|decimal|thousands|encoding|duplicates|weight|weights|time|time-format|unknown-ids)=[^{}]+|skip-bad-lines|bipartite|multi-label)\} ?`

var (
	settingPattern = regexp.MustCompile(setting)
	remedyPattern  = regexp.MustCompile(`(?:` + setting + `)+`)
)

// remediesOf returns the remedies in settings of an error about a table. Settings behind a command of the shell, which a
// person must run first, are none.
func remediesOf(err error) []string {
	fault := new(input.Error)
	if !errors.As(err, &fault) {
		return nil
	}
	fix, _, _ := strings.Cut(fault.Fix, "{file}")
	return remedyPattern.FindAllString(fix+" or "+fault.Otherwise, -1)
}

// paste returns the command with all flags that its tables need. It applies the first remedy of err that helps,
// then the first remedy of the next error that helps, and so on. If no flag helps against an error with a repair, the
// command of the repair stands before the command. It returns "" if such flags and repairs do not suffice. The
// first remedy must not omit data, because a person must decide to do so. If the remedies of err read numbers in
// different ways, it returns a command for each.
func (run *Session) paste(err error) string {
	const long = 10 * time.Second
	if run.Try == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(run.Context, long)
	defer cancel()
	remedies := slices.DeleteFunc(remediesOf(err), func(remedy string) bool {
		return slices.Contains([]string{"{skip-bad-lines}", "{unknown-ids=skip}"}, strings.TrimSpace(remedy))
	})
	var readings []string
	for _, remedy := range remedies {
		if strings.HasPrefix(remedy, "{decimal=") || strings.HasPrefix(remedy, "{thousands=") {
			readings = append(readings, remedy)
		}
	}
	if len(readings) < 2 {
		return run.pasteFirst(ctx, err, remedies)
	}
	var commands []string // of numbers that differ, as 56 and 56,000 do
	for _, remedy := range readings {
		if command := run.pasteFirst(ctx, err, []string{remedy}); command != "" {
			commands = append(commands, command)
		}
	}
	return strings.Join(commands, " or ")
}

// pasteFirst returns the command with the first of the remedies of err that helps, see paste.
func (run *Session) pasteFirst(ctx context.Context, err error, remedies []string) string {
	const most = 12 // trials
	args := run.Line.Args
	repaired := repairs{ctx: ctx}
	defer repaired.remove()
	for range most {
		var next []string
		if len(remedies) > 0 {
			next = with(args, remedies[0])
			remedies = remedies[1:]
		} else if next = repaired.apply(args, err); next == nil {
			return ""
		}
		failed := run.Try(ctx, append(slices.Clone(next), "--dry-run"))
		switch code := ExitCode(failed); {
		case code == WrongUsage:
		case code == WrongData && ErrorText(failed) != ErrorText(err):
			args = next
			err = failed
			remedies = remediesOf(err)
		case code != WrongData:
			return repaired.commandOf(next)
		}
	}
	return ""
}

// repairs are copies of files in a temporary folder, to which repairs of errors were applied.
type repairs struct {
	ctx      context.Context
	dir      string   // "": none yet
	commands []string // commands of a shell that make the copies
	replace  []string // pairs of the path of a copy and its name in commands
}

func (r *repairs) remove() {
	if r.dir != "" {
		os.RemoveAll(r.dir) // what is left is in the folder for temporary files
	}
}

// apply applies the repair of an error to a copy of the file, and returns the arguments with the path of the copy. It
// returns nil if there is no repair, if it was applied before, if the file is large or if no argument is its path.
func (r *repairs) apply(args []string, err error) []string {
	const largest = 64 << 20
	fault := new(input.Error)
	if !errors.As(err, &fault) || fault.Repair == nil || slices.Contains(r.replace, fault.File) {
		return nil
	}
	i := slices.IndexFunc(args, func(arg string) bool { return arg == fault.File || strings.HasSuffix(arg, "="+fault.File) })
	info, unknown := os.Stat(fault.File)
	if i < 0 || unknown != nil || info.Size() > largest {
		return nil
	}
	command := &input.Error{File: fault.File, Fix: fault.Repair.Command}
	name := &input.Error{File: fault.File, Fix: "{copy}"}
	r.commands = append(r.commands, command.Remedy(flagOf))
	path, failed := r.write(fault, strings.Trim(name.Remedy(flagOf), "'"))
	if failed != nil {
		return nil
	}
	r.replace = append(r.replace, path, filepath.Base(path))
	args = slices.Clone(args)
	args[i] = strings.TrimSuffix(args[i], fault.File) + path
	return args
}

// write writes the repaired copy of a file under a name.
func (r *repairs) write(fault *input.Error, name string) (path string, err error) {
	if r.dir == "" {
		if r.dir, err = os.MkdirTemp("", "heatwalk-"); err != nil {
			return "", err
		}
	}
	in, err := textio.Open(r.ctx, fault.File, &textio.Options{Any: true})
	if err != nil {
		return "", err
	}
	defer in.Close()
	path = filepath.Join(r.dir, name)
	out, err := durable.OS.Create(path)
	if err != nil {
		return "", err
	}
	return path, errors.Join(fault.Repair.Apply(out, in.Content()), out.Close())
}

// commandOf returns the commands of the shell and the command with the given arguments.
func (r *repairs) commandOf(args []string) string {
	command := strings.NewReplacer(r.replace...).Replace(commandOf(args))
	return strings.Join(append(slices.Clone(r.commands), command), " && ")
}

// with returns arguments with the settings of a remedy, which replace flags of the same name.
func with(args []string, remedy string) []string {
	args = slices.Clone(args)
	for _, match := range settingPattern.FindAllStringSubmatch(remedy, -1) {
		name, _, _ := strings.Cut(match[1], "=")
		args = slices.DeleteFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--"+name+"=") })
		args = append(args, "--"+match[1])
	}
	return args
}

func commandOf(args []string) string {
	text := "heatwalk"
	for _, arg := range args {
		text += " " + input.ShellWord(arg)
	}
	return text
}

// CommandWith returns the command with the settings of a table that no flag gives, or "" without settings.
func (run *Session) CommandWith(settings []string) string {
	if settings == nil {
		return ""
	}
	args := slices.Clone(run.Line.Args)
	for _, setting := range settings {
		name, _, _ := strings.Cut(setting, "=")
		if !run.Line.Command.Flags().Changed(name) {
			args = append(args, "--"+setting)
		}
	}
	return commandOf(args)
}
