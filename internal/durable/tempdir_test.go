package durable

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRemoveLeft(t *testing.T) {
	parent := t.TempDir()
	put := func(name string, files ...string) {
		t.Helper()
		for _, f := range files {
			path := filepath.Join(parent, name, f)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	const left, notes, named, link = ".heatwalk-0000000000000001", ".heatwalk-0000000000000002", ".heatwalk-mine", ".heatwalk-0000000000000003"
	put(left, "lock", "graph/manifest", "graph/deep/file")
	put(notes, "lock", "graph/manifest", "notes")
	put(named, "lock", "graph/manifest")
	put("elsewhere", "lock", "graph/manifest")
	if err := os.Symlink(filepath.Join(parent, "elsewhere"), filepath.Join(parent, link)); err != nil {
		t.Skip(err)
	}
	removeLeft(parent)
	if _, err := os.Stat(filepath.Join(parent, left)); !os.IsNotExist(err) {
		t.Errorf("the directory of a killed run is still there: %v", err)
	}
	for _, name := range []string{notes + "/graph/manifest", notes + "/notes", named + "/graph/manifest", "elsewhere/graph/manifest", link} {
		if _, err := os.Lstat(filepath.Join(parent, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestInTempDir(t *testing.T) {
	const name = ".heatwalk-0123456789abcdef"
	for path, want := range map[string]string{
		name:                                    ".",
		"there/" + name:                         "there",
		"there/" + name + "/graph":              "there",
		"/there/" + name + "/graph/rmat15/file": "/there",
		name + "/graph/rmat15":                  ".",
		"there/" + name + "0/graph":             "",
		"there":                                 "",
		"/":                                     "",
	} {
		parent, ours := InTempDir(filepath.FromSlash(path))
		if parent != filepath.FromSlash(want) || ours != (want != "") {
			t.Errorf("%s: %q, %v", path, parent, ours)
		}
	}
}

func TestRemoveFollowsNoLink(t *testing.T) {
	parent, elsewhere := t.TempDir(), t.TempDir()
	file := filepath.Join(elsewhere, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := NewTempDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.Content(), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(d.Content(), "link")); err != nil {
		t.Skip(err)
	}
	if err := d.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.Path); !os.IsNotExist(err) {
		t.Errorf("the directory is there: %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
