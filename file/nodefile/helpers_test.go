package nodefile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

type file struct {
	name string
	text string
}

func write(t testing.TB, files ...file) []string {
	t.Helper()
	dir := t.TempDir()
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.Join(dir, f.name)
		if err := os.WriteFile(paths[i], []byte(f.text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func isData(err error) bool {
	var parse *ParseError
	return errors.As(err, &parse)
}
