package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

// A proxy of modules needs names that are legal on every system.
func TestModule(t *testing.T) {
	checked, err := modzip.CheckDir("../..")
	if err == nil {
		err = checked.Err()
	}
	if err != nil {
		t.Error(err)
	}
}

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
	settings, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, usual, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	install := exec.Command("go", "install", path+"/cmd/heatwalk@latest")
	install.Dir = proxy
	install.Env = append(os.Environ(), "GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(cache)+"/cache/download,"+usual,
		"GOMODCACHE="+t.TempDir(), "GONOSUMDB=*", "GOFLAGS=-modcacherw", "GOBIN="+proxy)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(filepath.Join(proxy, "heatwalk"), "--version").Output(); err != nil || string(out) != "heatwalk version "+version+"\n" {
		t.Errorf("%s %v", out, err)
	}
}
