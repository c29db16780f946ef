package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// licenceNames are the names of files with licences and notices.
var licenceNames = regexp.MustCompile(`(?i)^(.*-)?((un)?licen[cs]e|copying|notice|patents|copyright)([._-].*)?$`)

// thirdPartyLicences returns the licences of Go and of all modules in a program: the files at the top of
// a module, in its folder THIRD_PARTY_LICENSES, and in the folders of the packages that the program contains.
func thirdPartyLicences(system string, info *debug.BuildInfo) ([]byte, error) {
	goos, goarch, _ := strings.Cut(system, "/")
	list, err := output("env", "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch,
		"go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}\t{{.Dir}}", "./cmd/heatwalk")
	if err != nil {
		return nil, err
	}
	top := map[string]string{}              // the folder of a module
	folders := map[string]map[string]bool{} // of its packages, and those above
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 { // the standard library
			continue
		}
		module, dir := fields[0], fields[1]
		top[module] = dir
		if folders[module] == nil {
			folders[module] = map[string]bool{dir: true}
			if others := filepath.Join(dir, "THIRD_PARTY_LICENSES"); isFolder(others) {
				folders[module][others] = true
			}
		}
		for p := fields[2]; len(p) > len(dir); p = filepath.Dir(p) {
			folders[module][p] = true
		}
	}
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "The program heatwalk contains parts of the following works.\n")
	if err := appendLicences(&out, "Go, "+info.GoVersion, root, []string{root}); err != nil {
		return nil, err
	}
	for _, module := range info.Deps {
		if err := appendLicences(&out, module.Path+" "+module.Version, top[module.Path], slices.Sorted(maps.Keys(folders[module.Path]))); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// appendLicences writes the licences in folders of a work whose top folder is given.
func appendLicences(out *bytes.Buffer, work, top string, folders []string) error {
	found := false
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return fmt.Errorf("licences of %s: %w", work, err)
		}
		for _, entry := range entries {
			if !entry.Type().IsRegular() || !licenceNames.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
				continue
			}
			path := filepath.Join(folder, entry.Name())
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found = true
			name, err := filepath.Rel(top, path)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "\n%s\n%s, %s\n\n%s\n", strings.Repeat("=", 80), work, filepath.ToSlash(name), bytes.TrimSpace(text))
		}
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s; look for one, and do without the module otherwise", work, top)
	}
	return nil
}

// component is a part of a bill of materials in CycloneDX 1.5.
type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func newComponent(kind, path, version string) component {
	url := "pkg:golang/" + strings.ToLower(path) + "@" + version // the form of package URLs
	return component{Type: kind, Ref: url, Name: path, Version: version, URL: url}
}

// billOfMaterials returns the modules of a program as a document of CycloneDX 1.5. The sum of a module is
// that of go.sum.
func billOfMaterials(r *release, info *debug.BuildInfo) ([]byte, error) {
	program := newComponent("application", info.Path, "v"+r.version)
	parts := []component{newComponent("library", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		part := newComponent("library", m.Path, m.Version)
		part.Properties = []property{{"heatwalk:go.sum", m.Sum}}
		parts = append(parts, part)
	}
	for _, s := range info.Settings {
		program.Properties = append(program.Properties, property{"heatwalk:build:" + s.Key, s.Value})
	}
	refs := []string{}
	for _, p := range parts {
		refs = append(refs, p.Ref)
	}
	type dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
	return json.MarshalIndent(map[string]any{
		"bomFormat":    "CycloneDX",
		"specVersion":  "1.5",
		"version":      1,
		"metadata":     map[string]any{"timestamp": r.time, "component": program},
		"components":   parts,
		"dependencies": []dependency{{program.Ref, refs}},
	}, "", "  ")
}
