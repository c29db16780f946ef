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

// tableFlags are the flags that say how a table is read.
var tableFlags = strings.Fields("fields label-fields attribute-fields header delimiter decimal thousands encoding duplicates weight weights time-format unknown-ids skip-bad-lines")

// remedyPattern matches the settings of a remedy, and settingPattern matches one setting.
var (
	remedyPattern  = regexp.MustCompile(`(?:\{(?:[a-z-]+=[^{}]+|skip-bad-lines)\} ?)+`)
	settingPattern = regexp.MustCompile(`\{([a-z-]+)(=[^{}]+)?\}`)
)

// remediesOf returns the settings in each remedy of an error about a table as flags. It omits remedies with
// other settings.
func remediesOf(err error) (list [][]string) {
	fault := new(input.Error)
	if !errors.As(err, &fault) {
		return nil
	}
	for _, remedy := range remedyPattern.FindAllString(fault.Fix+" or "+fault.Otherwise, -1) {
		var flags []string
		settings := settingPattern.FindAllStringSubmatch(remedy, -1)
		for _, setting := range settings {
			if slices.Contains(tableFlags, setting[1]) {
				flags = append(flags, "--"+setting[1]+setting[2])
			}
		}
		if len(flags) == len(settings) {
			list = append(list, flags)
		}
	}
	return list
}

// paste returns the command with all flags that its tables need. It applies the first remedy of err that helps,
// then the first remedy of the next error that helps, and so on. It returns "" if err is not about a table, or
// if such flags do not suffice.
func (run *Session) paste(err error) string {
	const (
		most = 12 // trials
		long = 10 * time.Second
	)
	if run.Try == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(run.Context, long)
	defer cancel()
	args := run.Line.Args
	remedies := remediesOf(err)
	for trial := 0; trial < most && len(remedies) > 0; trial++ {
		next := with(args, remedies[0])
		remedies = remedies[1:]
		failed := run.Try(ctx, append(slices.Clone(next), "--dry-run"))
		switch code := ExitCode(failed); {
		case code != WrongData && code != WrongUsage:
			return commandOf(next)
		case code == WrongData && ErrorText(failed) != ErrorText(err):
			args = next
			err = failed
			remedies = remediesOf(err)
		}
	}
	return ""
}

// with returns arguments with flags, which replace flags of the same name.
func with(args, flags []string) []string {
	args = slices.Clone(args)
	for _, flag := range flags {
		name, _, _ := strings.Cut(flag, "=")
		args = slices.DeleteFunc(args, func(arg string) bool { return strings.HasPrefix(arg, name+"=") })
		args = append(args, flag)
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
