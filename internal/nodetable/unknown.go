package nodetable

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// Unknown counts the lines of a file about nodes, and those with an id that is not in
// the graph.
type Unknown struct {
	Nodes        any // of the graph; where it has a method ID(row int) string, the error shows an id
	Total, Count int
	line         int64 // of the first of them
	id           string

	encoded     string // the first with another encoding than the graph's
	encodedLine int64
	isUTF8      bool // the file's encoding, where the graph's is another
}

// Add counts a line with an id that is not in the graph; line 0 means that there is none.
func (u *Unknown) Add(line int64, id []byte) {
	u.Total++
	if u.Count++; u.Count == 1 || line < u.line {
		u.line, u.id = line, string(id)
	}
	if u.encoded == "" {
		u.compare(line, id)
	}
}

// compare finds out whether the graph has an id in another encoding.
func (u *Unknown) compare(line int64, id []byte) {
	graph, ok := u.Nodes.(interface {
		Lookup(id string) (row int, known bool)
	})
	if !ok {
		return
	}
	var other []byte
	isUTF8 := utf8.Valid(id)
	if !isUTF8 {
		other = textio.FromWindows(id)
	} else if bytes.ContainsFunc(id, func(r rune) bool { return r >= utf8.RuneSelf }) {
		other = textio.ToWindows(id)
	}
	if other == nil {
		return
	}
	if _, known := graph.Lookup(string(other)); known {
		u.encoded, u.encodedLine, u.isUTF8 = string(id), line, isUTF8
	}
}

// Err returns the error of the file called name if none of its ids is in the graph, or, unless
// skip is set, if some are not; fix is the remedy for the latter.
func (u *Unknown) Err(name string, skip bool, fix string) error {
	quoted := table.Quoted(u.id)
	switch {
	case u.Count == 0:
		return nil
	case u.encoded != "" && u.isUTF8:
		return textio.Fault(name, u.encodedLine, "convert the files of the graph to UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8",
			"%s is UTF-8, but the graph has the id in another encoding, such as Latin-1 or Windows-1252", table.Quoted(u.encoded))
	case u.encoded != "":
		return textio.Fault(name, u.encodedLine, "convert this file to UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8",
			"%s is not UTF-8, but the graph has the id as UTF-8", table.Quoted(u.encoded))
	case u.Count == u.Total:
		what := fmt.Sprintf("none of %d ids is in the graph (first %s)", u.Total, quoted)
		if u.Total == 1 {
			what = quoted + " is not in the graph"
		}
		hint, fix := u.mistake()
		return &textio.Error{File: name, Msg: what + hint, Fix: fix}
	case skip:
		return nil
	}
	verb := "are"
	if u.Count == 1 {
		verb = "is"
	}
	return &textio.Error{File: name, Line: u.line, Msg: fmt.Sprintf("%s is not in the graph (%d of %d ids %s not)", quoted, u.Count, u.Total, verb), Fix: fix}
}

// mistake returns a likely reason, to append to the message, and the remedy for a file
// without any id of the graph.
func (u *Unknown) mistake() (hint, fix string) {
	if of, ok := u.Nodes.(interface{ ID(row int) string }); ok {
		if id := of.ID(0); !table.IsInteger([]byte(id)) || !table.IsInteger([]byte(u.id)) {
			return fmt.Sprintf("; the graph has ids like %s", table.Quoted(id)), "give the file and the column with these"
		}
	}
	return "", "does one file count from 0 and the other from 1?"
}
