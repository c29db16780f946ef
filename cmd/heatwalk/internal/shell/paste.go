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
var tableFlags = strings.Fields("fields label-fields attribute-fields header delimiter decimal thousands encoding duplicates weight time-format")

// remedyPattern matches a remedy that begins with settings, and settingPattern matches one setting.
var (
	remedyPattern  = regexp.MustCompile(`^(?:pass|.*, as in) (?:\{[a-z-]+=[^{}]+\} ?)+`)
	settingPattern = regexp.MustCompile(`\{([a-z-]+)=([^{}]+)\}`)
)

// flagsOf returns the settings in the first remedy of an error about a table as flags, or nil if the remedy
// contains no settings or other settings.
func flagsOf(err error) (flags []string) {
	fault := new(input.Error)
	if !errors.As(err, &fault) {
		return nil
	}
	for _, setting := range settingPattern.FindAllStringSubmatch(remedyPattern.FindString(fault.Fix), -1) {
		if !slices.Contains(tableFlags, setting[1]) {
			return nil
		}
		flags = append(flags, "--"+setting[1]+"="+setting[2])
	}
	return flags
}

// paste returns the command with all flags that its tables need. It applies the first remedy of err, then the
// first remedy of the next error, and so on. It returns "" if such flags do not suffice.
func (run *Session) paste(err error) string {
	const (
		most = 8 // trials
		long = 10 * time.Second
	)
	if run.Try == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(run.Context, long)
	defer cancel()
	args := slices.Clone(run.Line.Args)
	for range most {
		var added []string
		for _, flag := range flagsOf(err) {
			if !slices.Contains(args, flag) {
				added = append(added, flag)
			}
		}
		if added == nil {
			break
		}
		args = append(args, added...)
		err = run.Try(ctx, append(slices.Clone(args), "--dry-run"))
	}
	if len(args) == len(run.Line.Args) || ExitCode(err) == WrongData {
		return ""
	}
	return commandOf(args)
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
