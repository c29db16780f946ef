package shell

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/file/input"
)

// setting matches a setting that says how a table is read.
const setting = `\{((?:fields|label-fields|attribute-fields|header|delimiter|decimal|thousands|encoding|duplicates|weight|weights|time|time-format|bipartite|unknown-ids)=[^{}]+|skip-bad-lines)\} ?`

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
// then the first remedy of the next error that helps, and so on. It returns "" if such flags do not suffice. The
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
	for trial := 0; trial < most && len(remedies) > 0; trial++ {
		next := with(args, remedies[0])
		remedies = remedies[1:]
		failed := run.Try(ctx, append(slices.Clone(next), "--dry-run"))
		switch code := ExitCode(failed); {
		case code == WrongUsage:
		case code == WrongData && ErrorText(failed) != ErrorText(err):
			args = next
			err = failed
			remedies = remediesOf(err)
		case code != WrongData:
			return commandOf(next)
		}
	}
	return ""
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
