package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/heatwalk/heatwalk/internal/testgraph"
)

var at = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// TestArchives reads archives back, and compares those of two builds.
func TestArchives(t *testing.T) {
	files := []file{{name: "LICENSE", data: []byte("free")}, {name: "heatwalk", data: []byte("program"), executable: true}}
	for kind, of := range map[string]func(string, []file, time.Time) ([]byte, error){"tar": tarOf, "zip": zipOf} {
		data, err := of("heatwalk_1", files, at)
		if err != nil {
			t.Fatal(err)
		}
		again, err := of("heatwalk_1", files, at)
		if err != nil || !bytes.Equal(data, again) {
			t.Errorf("%s: other bytes when made again, %v", kind, err)
		}
	}
	data, _ := tarOf("heatwalk_1", files, at)
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(plain)
	for _, f := range files {
		h, err := r.Next()
		if err != nil || h.Name != "heatwalk_1/"+f.name || h.Mode != f.mode() || !h.ModTime.Equal(at) {
			t.Fatalf("%+v, %v", h, err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, f.data) {
			t.Errorf("%s: %q, %v", f.name, got, err)
		}
	}
	data, _ = zipOf("heatwalk_1", files, at)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(z.File) != 2 || z.File[1].Name != "heatwalk_1/heatwalk" {
		t.Fatal(err)
	}
}

// TestManPages makes the page of every command from docs/commands.md.
func TestManPages(t *testing.T) {
	help, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	request := regexp.MustCompile(`^\.(TH|SH|nf|fi)\b`)
	for _, p := range manPages(string(help), "1.2", at) {
		if pages[p.name] != "" {
			t.Errorf("%s comes twice", p.name)
		}
		pages[p.name] = string(p.data)
		for line := range strings.Lines(string(p.data)) {
			if strings.HasPrefix(line, ".") && !request.MatchString(line) {
				t.Errorf("%s: the line %q is a request", p.name, line)
			}
		}
		if strings.Contains(pages[p.name], `\- `+"\n.SH") {
			t.Errorf("%s has no purpose", p.name)
		}
	}
	if want := strings.Count(string(help), "\n## ") + 1; len(pages) != want {
		t.Errorf("%d pages, want %d", len(pages), want)
	}
	page := pages["man/man1/heatwalk-graphs-kernel.1"]
	for _, want := range []string{
		".TH HEATWALK\\-GRAPHS\\-KERNEL 1 2026-11-25 \"heatwalk 1.2\"\n.SH NAME\nheatwalk\\-graphs\\-kernel \\- ", "\nUsage:\n  heatwalk graphs kernel ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in\n%s", want, page)
		}
	}
}

// TestMaterials collects licences, and checks the fields that CycloneDX requires of a bill of materials.
func TestMaterials(t *testing.T) {
	t.Chdir("../..")
	info := &debug.BuildInfo{GoVersion: "go1.26", Path: "github.com/heatwalk/heatwalk/cmd/heatwalk", Deps: []*debug.Module{
		{Path: "github.com/RoaringBitmap/roaring/v2", Version: "v2.30.0", Sum: "h1:x"},
		{Path: "gonum.org/v1/gonum", Version: "v0.17.0"},
		{Path: "github.com/vbauerster/mpb/v8", Version: "v8.9.3", Sum: "h1:y"},
	}}
	text, err := thirdPartyLicences("linux/arm64", info)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nGo, go1.26, LICENSE\n", "\ngithub.com/vbauerster/mpb/v8 v8.9.3, UNLICENSE\n", "THIRD_PARTY_LICENSES/Cephes-LICENSE", "Apache License"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%q is missing", want)
		}
	}
	info.Deps = append(info.Deps, &debug.Module{Path: "example.org/unknown", Version: "v1.0.0"})
	if _, err := thirdPartyLicences("linux/arm64", info); err == nil || !strings.Contains(err.Error(), "example.org/unknown v1.0.0 has no licence") {
		t.Error(err)
	}
	bill, err := billOfMaterials(&release{version: "1.2", time: at}, info)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		BOMFormat, SpecVersion string
		Version                int
		Metadata               struct{ Component component }
		Components             []component
	}
	if err := json.Unmarshal(bill, &got); err != nil {
		t.Fatal(err)
	}
	if got.BOMFormat != "CycloneDX" || got.SpecVersion != "1.5" || got.Version != 1 || len(got.Components) != 5 ||
		got.Components[1].URL != "pkg:golang/github.com/roaringbitmap/roaring/v2@v2.30.0" || got.Metadata.Component.Version != "v1.2" {
		t.Errorf("%s", bill)
	}
}

// TestModule checks that a proxy of modules can serve the module: names are legal on every system.
func TestModule(t *testing.T) {
	checked, err := modzip.CheckDir("../..")
	if err == nil {
		err = checked.Err()
	}
	if err != nil {
		t.Error(err)
	}
}

// TestInstall serves the module as a proxy does, and installs its latest version elsewhere.
func TestInstall(t *testing.T) {
	if !testgraph.Hunt {
		t.Skip("compiles the whole command; set HEATWALK_HUNT")
	}
	const path, version = "github.com/heatwalk/heatwalk", "v0.0.1"
	proxy := t.TempDir()
	dir := filepath.Join(proxy, path, "@v")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if err := modzip.CreateFromDir(archive, module.Version{Path: path, Version: version}, "../.."); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": version + "\n", version + ".mod": string(mod), version + ".info": fmt.Sprintf(`{"Version":%q}`, version)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	known, err := output("go", "env", "GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	install := exec.Command("go", "install", path+"/cmd/heatwalk@latest")
	install.Dir = proxy
	install.Env = append(os.Environ(), "GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(known)+"/cache/download",
		"GOMODCACHE="+t.TempDir(), "GONOSUMDB=*", "GOFLAGS=-modcacherw", "GOBIN="+proxy)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := output(filepath.Join(proxy, "heatwalk"), "--version"); err != nil || out != "heatwalk version "+version {
		t.Error(out, err)
	}
}
