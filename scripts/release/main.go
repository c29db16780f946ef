// Command release builds the archives of a release, from the root of a clone:
//
//	go run ./scripts/release FOLDER [OS/ARCH...]
//
// Each archive has the program of one system with its licences, bill of materials, man pages and
// completions. FOLDER gets a SHA256SUMS too. The same commit and the same version of Go give the same
// bytes. See docs/releasing.md.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// systems are those of a release.
var systems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// maxProgram is the largest size of a program. If it is exceeded, look for a package that finds methods by
// their names at run time, as html/template does: with one the linker keeps all exported methods.
const maxProgram = 25_000_000

func main() {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/release FOLDER [OS/ARCH...]")
		os.Exit(2)
	}
	wanted := systems
	if len(os.Args) > 2 {
		wanted = os.Args[2:]
	}
	if err := build(os.Args[1], wanted); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is a version of heatwalk and the files that the archives of all systems have.
type release struct {
	version string
	time    time.Time // of the commit
	files   []file    // sorted by name
}

// build writes the archives of systems and their checksums to a folder.
func build(folder string, systems []string) error {
	temp, err := os.MkdirTemp("", "heatwalk-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r, err := newRelease(temp)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	sums := ""
	for _, system := range systems {
		name, data, err := r.archive(temp, system)
		if err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			return err
		}
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name)
		fmt.Println(name)
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums), 0o666)
}

// newRelease reads the version and the commit, and makes the common files. It builds the program of this
// machine in the folder temp, because that writes the completions.
func newRelease(temp string) (*release, error) {
	changed, err := output("git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if changed != "" {
		return nil, errors.New("the clone has changes; commit them, because archives name their commit")
	}
	seconds, err := output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, err
	}
	r := &release{time: time.Unix(unix, 0).UTC()}
	source, err := os.ReadFile("python/src/heatwalk/_version.py")
	if err != nil {
		return nil, err
	}
	_, after, _ := strings.Cut(string(source), `__version__ = "`)
	r.version, _, _ = strings.Cut(after, `"`)
	if tag, err := output("git", "describe", "--tags", "--exact-match"); err == nil && tag != "v"+r.version {
		return nil, fmt.Errorf("the commit has the tag %s, and python/src/heatwalk/_version.py the version %s; give both one version", tag, r.version)
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		r.files = append(r.files, file{name: name, data: data})
	}
	help, err := os.ReadFile("docs/commands.md")
	if err != nil {
		return nil, err
	}
	r.files = append(r.files, manPages(string(help), r.version, r.time)...)
	program := filepath.Join(temp, "heatwalk.exe")
	if _, err := output("scripts/program", runtime.GOOS+"/"+runtime.GOARCH, program); err != nil {
		return nil, err
	}
	for shell, name := range map[string]string{"bash": "heatwalk.bash", "zsh": "_heatwalk", "fish": "heatwalk.fish", "powershell": "heatwalk.ps1"} {
		text, err := output(program, "completion", shell)
		if err != nil {
			return nil, err
		}
		r.files = append(r.files, file{name: "completions/" + name, data: []byte(text + "\n")})
	}
	return r, nil
}

// archive builds the program of a system and returns the archive with its name.
func (r *release) archive(temp, system string) (name string, data []byte, err error) {
	if !slices.Contains(systems, system) {
		return "", nil, fmt.Errorf("there is no release for it; give one of %s", strings.Join(systems, ", "))
	}
	path := filepath.Join(temp, strings.ReplaceAll(system, "/", "-"))
	if _, err := output("scripts/program", system, path); err != nil {
		return "", nil, err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return "", nil, err
	}
	if len(program) > maxProgram {
		return "", nil, fmt.Errorf("the program has %d bytes; at most %d are allowed", len(program), maxProgram)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", nil, err
	}
	licences, err := thirdPartyLicences(system, info)
	if err != nil {
		return "", nil, err
	}
	bill, err := billOfMaterials(r, info)
	if err != nil {
		return "", nil, err
	}
	executable := "heatwalk"
	if strings.HasPrefix(system, "windows/") {
		executable += ".exe"
	}
	files := append(slices.Clone(r.files),
		file{name: executable, data: program, executable: true},
		file{name: "THIRD_PARTY_LICENSES", data: licences},
		file{name: "sbom.cdx.json", data: bill})
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	stem := fmt.Sprintf("heatwalk_%s_%s", r.version, strings.ReplaceAll(system, "/", "_"))
	if executable != "heatwalk" {
		data, err = zipOf(stem, files, r.time)
		return stem + ".zip", data, err
	}
	data, err = tarOf(stem, files, r.time)
	return stem + ".tar.gz", data, err
}

// output runs a command and returns its output without the last line feed.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, failed.Stderr)
	}
	return strings.TrimSuffix(string(out), "\n"), err
}
