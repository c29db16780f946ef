package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/tablefile"
)

// FileFormat is a file format of the output of convert.
type FileFormat struct {
	Name    string // value of --to
	Endings []string
	Text    bool              // may be compressed
	Graph   *graphfile.Format // nil if it has no graphs
	Matrix  *tablefile.Format // nil if it has no matrices of features
	Kernel  bool              // the matrix is written as a precomputed kernel
}

// FileFormats lists the formats of graphs and matrices, combined by name.
func FileFormats() (list []*FileFormat) {
	for _, g := range graphfile.Formats {
		if g.Name != "" {
			list = append(list, &FileFormat{Name: g.Name, Endings: g.Endings,
				Text: g.Text, Graph: g})
		}
	}
	for _, m := range tablefile.Formats {
		if i := slices.IndexFunc(list, func(f *FileFormat) bool { return f.Name == m.Name }); i >= 0 {
			list[i].Matrix = m
		} else {
			list = append(list, &FileFormat{Name: m.Name, Endings: m.Endings,
				Text: m.Text, Matrix: m})
		}
		if m.Kernel != "" {
			list = append(list, &FileFormat{Name: m.Kernel, Text: m.Text, Matrix: m,
				Kernel: true})
		}
	}
	return list
}

// FormatOfFile returns the format called name. If name is "", it returns the format of the ending of
// path. It returns nil if there is no such format.
func FormatOfFile(path, name string) *FileFormat {
	ending := table.Extension(path)
	for _, f := range FileFormats() {
		if f.Name == name || name == "" && slices.Contains(f.Endings, ending) {
			return f
		}
	}
	return nil
}

// MatrixFormatOf returns the matrix format of the ending of path if formats contains the ending, and
// otherwise the format of formats[0]. It returns nil if that format has no matrices.
func MatrixFormatOf(path string, formats []string) *tablefile.Format {
	ending := FormatOf(path, formats)
	arePredictions := slices.Contains(formats, tablefile.PredictionEndings[0])
	f := FormatOfFile(ending, "")
	if f == nil || arePredictions && slices.Contains(tablefile.PredictionEndings, ending) { // .csv is a table of predictions
		return nil
	}
	return f.Matrix
}

var lineEndings = []string{".tsv", ".csv", ".jsonl", ".svm", ".libsvm"}

// Ending returns the ending of a path in small letters, without a final .gz.
func Ending(path string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz"))
}

// FormatOf returns the ending of path if formats contains it, and otherwise formats[0], the format of
// stdout.
func FormatOf(path string, formats []string) string {
	ending := Ending(path)
	if slices.Contains(formats, ending) {
		return ending
	}
	return formats[0]
}
