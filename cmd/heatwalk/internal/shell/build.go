package shell

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/cpu"
)

// protocol is the version of the flags, documents and files that the Python package and other programs use. A
// change that an earlier Python package cannot use raises it, and so does a change of columns, of keys, or of
// their order.
const protocol = 4

// Build describes this program; it is part of every run file.
type Build struct {
	Version  string   `json:"version"`
	Protocol int      `json:"protocol"`
	Commit   string   `json:"commit,omitempty"`
	Go       string   `json:"go"`
	System   string   `json:"system"`
	CPU      []string `json:"cpu"`
}

// release and commit describe a released program; the linker sets them.
var release, commit string

func ThisBuild() Build {
	b := Build{Version: "unknown", Commit: commit, Protocol: protocol,
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		CPU: cpuFeatures()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(release, info.Main.Version)
	for _, s := range info.Settings {
		switch { // a program that was built in a clone has these keys
		case s.Key == "vcs.revision":
			b.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			b.Commit += "+changes"
		}
	}
	return b
}

func cpuFeatures() []string {
	features := []string{}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"avx2", cpu.X86.HasAVX2}, {"fma", cpu.X86.HasFMA}, {"bmi2",
			cpu.X86.HasBMI2},
		{"avx512f", cpu.X86.HasAVX512F}, {"avx512bw",
			cpu.X86.HasAVX512BW}, {"avx512vl", cpu.X86.HasAVX512VL},
		{"asimd", cpu.ARM64.HasASIMD}, {"sve", cpu.ARM64.HasSVE},
	} {
		if f.has {
			features = append(features, f.name)
		}
	}
	return features
}
