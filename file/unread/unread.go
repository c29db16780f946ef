// Package unread recognizes common files that are neither graphs nor tables, by the first bytes of
// their content, so that an error names the format and the way out. Other binary files are refused
// as no text by package textio.
package unread

import (
	"bytes"
	"path/filepath"
	"regexp"
	"sync"
)

// Format is a kind of file that is not read.
type Format struct {
	Title  string // with its article: "a Git LFS pointer"
	Remedy string // a way to a file that is read

	begins func() *regexp.Regexp // matches the beginning of the content, in which bytes that are not UTF-8 are U+FFFD
}

const (
	exportMatrix = "write the edges as text, or the adjacency matrix with scipy.sparse.save_npz or mmwrite"
	fetchAgain   = "this is the answer of a server, not the file; check the address and your access, and fetch the file again"
	exportTable  = "export the table as CSV: sqlite3 -header -csv {file} 'SELECT * FROM TABLE' > table.csv"
)

// formats are all formats; the first that matches counts. An archive begins with "zip:" and the name of
// its first member.
var formats = []*Format{
	format("a Git LFS pointer", "fetch the file itself with git lfs pull", `version https://git-lfs\.github\.com/spec/`),
	format("an HTML page", fetchAgain, `(?i)\s*<(!doctype html|html|head|body)\b`),
	format("a PDF file", "give the text in it", `%PDF-`),
	format("a spreadsheet", "save its sheet as CSV", `zip:(\[Content_Types\]\.xml|_rels/|xl/|docProps/)`),
	format("a zip archive", "unpack it and give a file in it", `zip:`),
	format("an HDF5 file", exportMatrix, `\x{FFFD}HDF\r\n`),
	format("a pickle of Python", exportMatrix, `\x{FFFD}[\x02-\x05]`),
	format("an SQLite database", exportTable, `SQLite format 3\x00`),
	format("an Arrow file or stream", "write it as Parquet", `ARROW1|\x{FFFD}{4}(?s:..)\x00\x00`),
}

// format returns a format whose content begins with a match of expr, which is compiled when it is first needed.
func format(title, remedy, expr string) *Format {
	compile := func() *regexp.Regexp { return regexp.MustCompile(`\A(` + expr + `)`) }
	return &Format{title, remedy, sync.OnceValue(compile)}
}

// Recognize returns the format of a file by the beginning of its content, a few kilobytes if it has as
// many; nil if it is none of these.
func Recognize(head []byte) *Format {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if member := firstMember(head); member != "" {
		head = []byte("zip:" + member)
	}
	for _, f := range formats {
		if f.begins().Match(head) {
			return f
		}
	}
	return nil
}

// firstMember returns the name of the first member of a zip archive; "" if the content is not one, or may be an .npz
// file, whose members have the ending .npy or none.
func firstMember(head []byte) string {
	const fixed = 30 // bytes before the name
	if len(head) < fixed || !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return ""
	}
	length := int(head[26]) | int(head[27])<<8
	name := string(head[fixed:min(len(head), fixed+length)])
	if ending := filepath.Ext(name); ending == "" || ending == ".npy" {
		return ""
	}
	return name
}
