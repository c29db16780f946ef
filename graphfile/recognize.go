package graphfile

import (
	"bytes"
	"path/filepath"
	"strings"
)

// extensions of the formats. Content decides before them.
var extensions = map[string]Format{
	".npz": SciPy, ".graph": METIS, ".metis": METIS, ".sg": GAP, ".wsg": GAP,
	".graphml": GraphML, ".gml": GML, ".net": Pajek, ".paj": Pajek, ".parquet": Parquet, ".pq": Parquet,
}

// Extension returns the ending of a name that says what is in the file, in
// lower case: the last one that is not that of a compression.
func Extension(name string) string {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst", ".bgz"} {
		name = strings.TrimSuffix(name, packed)
	}
	return filepath.Ext(name)
}

// Recognize returns the format of a file from the first bytes of its content,
// a few kilobytes if it has as many, or else from its name.
func Recognize(name string, head []byte) Format {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), blank)
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return SciPy
	case bytes.HasPrefix(head, []byte("PAR1")):
		return Parquet
	case bytes.HasPrefix(text, []byte("<")) && (bytes.Contains(text, []byte("<graphml")) || bytes.Contains(text, []byte(":graphml"))):
		return GraphML
	case isPajek(text):
		return Pajek
	case isGML(text):
		return GML
	}
	return extensions[Extension(name)]
}

// isPajek reports whether the first line that is no comment begins a section.
func isPajek(text []byte) bool {
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if line = bytes.Trim(line, blank); len(line) == 0 || line[0] == '%' || line[0] == '#' {
			continue
		}
		if end := bytes.IndexAny(line, blank); end >= 0 {
			line = line[:end]
		}
		return bytes.EqualFold(line, []byte("*network")) || bytes.EqualFold(line, []byte("*vertices"))
	}
	return false
}

// isGML reports whether the text has, behind keys with plain values, the key
// graph and a bracket.
func isGML(text []byte) bool {
	t := newScanner("", bytes.NewReader(text))
	for range 64 {
		key, err := t.gmlToken()
		if err != nil || key.kind != gmlKey {
			return false
		}
		value, err := t.gmlToken()
		if err != nil {
			return false
		}
		if value.kind == gmlOpen {
			return strings.EqualFold(string(key.text), "graph")
		}
		if value.kind != gmlString && value.kind != gmlNumber {
			return false
		}
	}
	return false
}
