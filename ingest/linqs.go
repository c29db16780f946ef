package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

// citesFile is a file with the cited node and the citing node of an edge on each line.
const citesFile = ".cites"

// IsStore reports whether path must be opened as a store. It returns false for a path that [Run] reads: a
// directory with LINQS files, with the parts or partitions of a table, or with the arrays of a matrix.
func IsStore(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && folder(path) == "" &&
		nodefile.PartFiles(path) == nil && textio.Partition(path) == "" &&
		!graphfile.IsArrays(path)
}

// folder returns the path of the only .cites file in a directory that is not a store, otherwise "".
func folder(dir string) string {
	if _, err := os.Stat(filepath.Join(dir, "manifest")); err == nil {
		return ""
	}
	if cites := filesWith(dir, "", citesFile); len(cites) == 1 {
		return cites[0]
	}
	return ""
}

// filesWith returns the files of a directory with an extension, which an extension of compression may follow.
// If stem is not "", their names without extensions must equal stem.
func filesWith(dir, stem, extension string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		if e.IsDir() || table.Extension(e.Name()) != extension ||
			stem != "" && stemOf(e.Name()) != stem {
			continue
		}
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	return paths
}

func stemOf(path string) string {
	name := filepath.Base(path)
	end := strings.LastIndex(strings.ToLower(name), table.Extension(name))
	return name[:end]
}

// pair replaces each folder among the inputs by the files in it, and each .content file by its .cites file.
// If no list of nodes is given, the .content file next to a .cites file becomes the list of nodes.
func (c *Config) pair(inputs []string) ([]string, error) {
	var paths []string
	for _, path := range inputs {
		if cites := folder(path); cites != "" {
			path = cites
		} else if graphfile.IsArrays(path) {
			path = graphfile.ArraysFile(path)
		} else if parts := nodefile.PartFiles(path); parts != nil {
			paths = append(paths, parts...)
			continue
		}
		if table.Extension(path) != nodefile.ContentFile {
			paths = append(paths, path)
			continue
		}
		if c.Nodes == "" {
			c.Nodes = path
		}
		cites := filesWith(filepath.Dir(path), stemOf(path), citesFile)
		if len(cites) == 0 {
			return nil, refuse(path, "give that file, and this one with {nodes}",
				"lists nodes; the edges are in the .cites file, which is not in the same folder")
		}
		if !slices.ContainsFunc(inputs,
			func(input string) bool { return table.Extension(input) == citesFile }) {
			paths = append(paths, cites[0])
		}
	}
	for _, path := range paths {
		if c.Nodes != "" || path == "-" || table.Extension(path) != citesFile {
			continue
		}
		if content := filesWith(filepath.Dir(path), stemOf(path),
			nodefile.ContentFile); len(content) > 0 {
			c.Nodes = content[0]
		}
	}
	return paths, nil
}
