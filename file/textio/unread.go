package textio

import (
	"bytes"
	"path/filepath"
	"regexp"
	"sync"
)

type unreadFormat struct {
	title  string // title with its article: "a Git LFS pointer"
	remedy string
	begins func() *regexp.Regexp // matches the beginning of the content, where U+FFFD is a byte that is not UTF-8
}

const (
	exportMatrix = "write the edges as text, or the adjacency matrix with scipy.sparse.save_npz or mmwrite"
	fetchPage    = "this is the answer of a server, not the file; check the address and your access, and fetch the file again"
	exportTable  = "export the table as CSV: sqlite3 -header -csv {file} 'SELECT * FROM TABLE' > table.csv"
)

// unreadFormats are recognized but not read, and tried in this order. An archive is matched as "zip:" and the name of
// the first member.
var unreadFormats = []unreadFormat{
	{"a Git LFS pointer", "fetch the file itself with git lfs pull", beginning(`version https://git-lfs\.github\.com/spec/`)},
	{"an HTML page", fetchPage, beginning(`(?i)\s*<(!doctype html|html|head|body)\b`)},
	{"a PDF file", "give the text in it", beginning(`%PDF-`)},
	{"a spreadsheet", "save its sheet as CSV", beginning(`zip:(\[Content_Types\]\.xml|_rels/|xl/|docProps/)`)},
	{"a zip archive", "unpack it and give a file in it", beginning(`zip:`)},
	{"an HDF5 file", exportMatrix, beginning(`\x{FFFD}HDF\r\n`)},
	{"a pickle of Python", exportMatrix, beginning(`\x{FFFD}[\x02-\x05]`)},
	{"an SQLite database", exportTable, beginning(`SQLite format 3\x00`)},
	{"an Arrow file or stream", "write it as Parquet", beginning(`ARROW1|\x{FFFD}{4}(?s:..)\x00\x00`)},
}

func beginning(expr string) func() *regexp.Regexp { return Pattern(`\A(` + expr + `)`) }

// Pattern returns a function that compiles an expression at its first call.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// CheckRead returns an error if head, the first kilobytes of a content, shows a common format that is neither a graph
// nor a table. [Reader.CheckText] refuses other binary files.
func CheckRead(name string, head []byte) error {
	head = bytes.TrimPrefix(head, []byte(utf8Mark))
	if member := firstMember(head); member != "" {
		head = []byte("zip:" + member)
	}
	for _, f := range unreadFormats {
		if f.begins().Match(head) {
			return Fault(name, 0, f.remedy, "%s, which is not read", f.title)
		}
	}
	return nil
}

// firstMember returns the name of the first member of a zip archive, or "" if it may be an .npz file.
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
