package shell

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ErrorReport is the form of an error with --json.
type ErrorReport struct {
	File    string    `json:"file,omitempty"`
	Line    int64     `json:"line,omitempty"`
	Column  int       `json:"column,omitempty"`
	Byte    *int64    `json:"byte,omitempty"`
	Flag    string    `json:"flag,omitempty"`
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	Time    time.Time `json:"time"`
	Level   string    `json:"level"`
	Stack   string    `json:"stack,omitempty"` // stack of an internal error, with --debug

	Text string `json:"-"` // the line without --json
}

// addCommand makes a command to paste the first remedy in the report of an error about a table. The other remedies, and
// the columns of the table, follow on a line of their own, because most people want to paste.
func (r *ErrorReport) addCommand(command string, p nodefile.ParseError) {
	others := p.Remedy(flagOf)
	detail := p.Detail
	p.Detail = ""
	p.Fix = ""
	p.Otherwise = ""
	r.Text = p.Format(flagOf) + "; paste: " + command
	r.Hint += " or paste: " + command
	if others != "" {
		r.Text += "\n  or " + others
	}
	if detail != "" {
		r.Text += "; columns: " + detail
	}
}

// ErrorReports returns the reports of an error, one for each line of the message. It writes the options in
// errors of libraries as flags.
func ErrorReports(err error) []ErrorReport {
	var (
		usage    *usageError
		parse    *nodefile.ParseError
		corrupt  *shard.CorruptError
		file     *fs.PathError
		declared *param.ParameterError
		placed   *PlacedError
		number   *json.UnsupportedValueError
	)
	switch {
	case errors.As(err, &usage):
		var list []ErrorReport
		for _, p := range usage.problems {
			list = append(list, flagReport(p.Place, p.What))
		}
		return list
	case errors.As(err, &declared):
		return []ErrorReport{flagReport("--"+declared.Parameter, declared.What)}
	case errors.Is(err, shard.ErrExists):
		return []ErrorReport{textReport(err.Error() + "; pass --force to replace it")}
	case errors.As(err, &parse):
		return linesReport(err, parse)
	case errors.Is(err, tablefile.ErrRange):
		return []ErrorReport{flagReport("--dtype", err.Error()+"; give float64")}
	case errors.As(err, &corrupt):
		r := textReport(corrupt.Error())
		r.File = corrupt.Path
		r.Message, r.Hint, _ = strings.Cut(corrupt.What, "; ")
		if corrupt.Offset >= 0 {
			r.Byte = &corrupt.Offset
		}
		return []ErrorReport{r}
	case errors.As(err, &file):
		return []ErrorReport{fileReport(err, file)}
	case errors.As(err, &placed) && strings.HasPrefix(placed.Place, "-"):
		return []ErrorReport{flagReport(placed.Place, placed.What)}
	case errors.As(err, &number): // a document cannot have such a number
		return []ErrorReport{textReport("a result is not a finite number; multiply all weights or values by a constant")}
	}
	return []ErrorReport{textReport(err.Error())}
}

func flagReport(place, what string) ErrorReport {
	r := textReport(place + ": " + what)
	r.Flag = place
	r.Message, r.Hint, _ = strings.Cut(what, "; ")
	return r
}

// downloads has the command that downloads a file, by the scheme of its address URL.
var downloads = map[string]string{
	"http": "curl -LO URL", "https": "curl -LO URL", "ftp": "curl -LO URL", "s3": "aws s3 cp URL .", "gs": "gcloud storage cp URL .",
	"hdfs": "hdfs dfs -get URL",
}

func fileReport(err error, file *fs.PathError) ErrorReport {
	path := durable.Final(file.Path)
	r := textReport(strings.ReplaceAll(err.Error(), file.Path, path))
	r.File = path
	bare := err.Error() == file.Error()
	hint := ""
	about := func(message, remedy string) {
		r.Message = message
		r.Text = path + ": " + message
		hint = remedy
	}
	switch {
	case errors.Is(err, durable.ErrFull):
		dir := filepath.Dir(path)
		for parent := filepath.Dir(dir); !IsDir(dir) && parent != dir; parent = filepath.Dir(dir) {
			dir = parent // directories created by this run have been removed
		}
		hint = "make room, or write to another disk"
		if _, ours := durable.InTempDir(path); ours {
			hint = "make room, or name another disk with --temp-dir"
		}
		if free, err := durable.OS.Free(dir); err == nil {
			r.Message += " (" + words.Bytes(free) + " are free)"
		}
		r.Text = r.Message
	case errors.Is(err, syscall.EFBIG):
		hint = "allow larger files with ulimit -f, or write to another disk"
	case errors.Is(err, syscall.EMFILE):
		hint = "allow more with ulimit -n"
	case errors.Is(err, fs.ErrNotExist) && bare && file.Op == "mkdir":
		r.Message = "create " + path + ": there is no directory " +
			filepath.Dir(path)
		hint = "make it first"
		r.Text = r.Message
	case errors.Is(err, fs.ErrNotExist) && bare:
		about(file.Err.Error(), "check the path")
		scheme, _, isAddress := strings.Cut(path, "://")
		if download := downloads[scheme]; isAddress && download != "" {
			about("an address, and only files are read", "download it first: "+strings.Replace(download, "URL", input.ShellWord(path), 1))
		} else if name := neighbour(path); name != "" {
			hint = "did you mean " + name + "?"
		}
	case errors.Is(err, fs.ErrPermission) && file.Op == "open" && bare:
		about(file.Err.Error(), "check who may read it")
	}
	if hint != "" {
		r.Text += "; " + hint
		r.Hint = hint
	}
	return r
}

// neighbour returns the file in the same folder whose name is most similar to the name of path, or "".
func neighbour(path string) string {
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Clean(dir)) // no names if the folder is missing too
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if name := words.Nearest(base, names); name != "" {
		return dir + name
	}
	return ""
}

func textReport(text string) ErrorReport {
	r := ErrorReport{Text: strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")}
	r.Message, r.Hint, _ = strings.Cut(r.Text, "; ")
	return r
}

func linesReport(err error, first *nodefile.ParseError) []ErrorReport {
	var joined interface {
		error
		Unwrap() []error
	}
	if !errors.As(err, &joined) ||
		errors.Join(joined.Unwrap()...).Error() != joined.Error() {
		return []ErrorReport{parseReport(first)}
	}
	var list []ErrorReport
	for _, err := range joined.Unwrap() {
		if parse := (*nodefile.ParseError)(nil); errors.As(err, &parse) {
			list = append(list, linesReport(err, parse)...)
		} else {
			list = append(list, textReport(err.Error()))
		}
	}
	return list
}

func parseReport(p *nodefile.ParseError) ErrorReport {
	r := ErrorReport{Text: p.Format(flagOf), File: p.File, Line: p.Line,
		Column: p.Column, Message: p.Problem(), Hint: p.Remedy(flagOf)}
	if p.Option != "" {
		r.Flag = flagOf(p.Option, "")
	}
	if r.Hint == "" {
		r.Message, r.Hint, _ = strings.Cut(p.Msg, "; ")
	}
	if p.AtByte {
		r.Byte = &p.Byte
	}
	return r
}

// flagOf returns the flag for the option called name of a library, with value if it is not "". Flags and
// options have the same names.
func flagOf(name, value string) string {
	if value != "" {
		name += "=" + input.ShellWord(value)
	}
	return "--" + name
}

// ErrorText returns the text of an error of a library, with options written as flags.
func ErrorText(err error) string {
	if parse := (*nodefile.ParseError)(nil); errors.As(err, &parse) {
		return parse.Format(flagOf)
	}
	return err.Error()
}
