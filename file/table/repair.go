package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/textio"
)

// RemoveLines returns the repair that removes the first lines of a file. unpack is the beginning of a command that
// decompresses the file, or "".
func RemoveLines(lines int64, unpack string) *input.Repair {
	command := "tail -n +" + strconv.FormatInt(lines+1, 10) + " {file} > {copy}"
	if unpack != "" {
		command = unpack + strings.Replace(command, " {file}", "", 1)
	}
	return &input.Repair{Command: command, Apply: func(w io.Writer, r io.Reader) error {
		text := bufio.NewReader(r)
		for range lines {
			for {
				_, err := text.ReadSlice('\n')
				if err == nil {
					break
				}
				if !errors.Is(err, bufio.ErrBufferFull) {
					return err
				}
			}
		}
		_, err := text.WriteTo(w)
		return err
	}}
}

// AddRepair adds a repair to an error about a line that cannot be split at sep, if a quote is not closed: to write
// fields that go on over several lines on one line. Only a command can do so, because lines are read in parts.
func AddRepair(e *input.Error, sep byte) {
	if !errors.Is(e, ErrQuote) {
		return
	}
	command := strings.Replace(joinLines, "'SEPARATOR'", strconv.QuoteRune(rune(sep)), 1)
	if unpack := textio.Unpack(e.File); unpack != "" {
		command = unpack + strings.Replace(command, " {file}", " /dev/stdin", 1)
	}
	e.Repair = &input.Repair{
		Command: command,
		Apply:   func(w io.Writer, r io.Reader) error { return joinQuoted(w, r, sep) },
	}
	e.Fix = "close it, or write fields that go on over several lines on one: " + e.Repair.Command
}

// joinLines keeps the bytes of texts in every encoding that extends ASCII, and drops a byte-order mark.
const joinLines = `PYTHONIOENCODING=utf-8:surrogateescape python3 -c "import csv, sys; csv.writer(sys.stdout).writerows([c.replace('\n', ' ') for c in row] ` +
	`for row in csv.reader(open(sys.argv[1], encoding='utf-8-sig', errors='surrogateescape'), delimiter='SEPARATOR'))" {file} > {copy}`

// joinQuoted does what joinLines does.
func joinQuoted(w io.Writer, r io.Reader, sep byte) error {
	text := bufio.NewReader(r)
	if mark, _ := text.Peek(len(Mark)); string(mark) == Mark {
		_, _ = text.Discard(len(mark))
	}
	rows := csv.NewReader(text)
	rows.Comma = rune(sep)
	rows.FieldsPerRecord = -1
	rows.LazyQuotes = true
	rows.ReuseRecord = true
	out := csv.NewWriter(w)
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			out.Flush()
			return out.Error()
		}
		if err != nil {
			return err
		}
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "\n", " ")
		}
		_ = out.Write(row) // Error returns the first error
	}
}
