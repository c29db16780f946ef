package nodefile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/table"
)

var partEndings = []string{".parquet", ".csv", ".tsv", ".txt", ".edges"}

// PartFiles returns the files of a directory, by name, if they are the parts of one table, as Spark and DuckDB write
// them. It skips names that begin with a dot or _, for example _SUCCESS, and files that heatwalk writes next to an
// output. The other files must have the same ending. It returns nil for any other path.
func PartFiles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var parts []string
	for _, e := range entries {
		name := e.Name()
		if name == "manifest" {
			return nil // the folder is a store
		}
		if name[0] == '.' || name[0] == '_' ||
			strings.HasSuffix(name, ".run.json") ||
			strings.HasSuffix(name, ".ids") {
			continue
		}
		ending := table.Extension(name)
		if e.IsDir() || !slices.Contains(partEndings, ending) ||
			parts != nil && ending != table.Extension(parts[0]) {
			return nil
		}
		parts = append(parts, filepath.Join(dir, name))
	}
	return parts
}
