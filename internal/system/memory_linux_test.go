package system

import (
	"os"
	"path/filepath"
	"testing"
)

func TestContainerOfGroups(t *testing.T) {
	defer func() { Root = "" }()
	const v1, v2 = "sys/fs/cgroup/memory/", "sys/fs/cgroup/"
	for name, c := range map[string]struct {
		groups string
		files  map[string]string
		want   int64
	}{
		"slurm job on version 1": {"11:cpuset:/slurm/uid_1/job_7\n4:memory:/slurm/uid_1/job_7/step_0\n", map[string]string{
			v1 + "slurm/uid_1/job_7/step_0/memory.limit_in_bytes": "9223372036854771712\n",
			v1 + "slurm/uid_1/job_7/memory.limit_in_bytes":        "8589934592\n",
			v1 + "memory.limit_in_bytes":                          "9223372036854771712\n"}, 8 << 30},
		"several controllers in one hierarchy": {"3:cpu,memory,blkio:/system.slice/x.service\n", map[string]string{
			v1 + "system.slice/x.service/memory.limit_in_bytes": "1073741824\n"}, 1 << 30},
		"root of version 1":               {"3:memory:/\n", map[string]string{v1 + "memory.limit_in_bytes": "2147483648\n"}, 2 << 30},
		"path of the host in a container": {"3:memory:/docker/abc\n", map[string]string{v1 + "memory.limit_in_bytes": "2147483648\n"}, 2 << 30},
		"hybrid": {"4:memory:/a\n0::/b/c\n", map[string]string{
			v1 + "a/memory.limit_in_bytes": "4294967296\n", v2 + "b/memory.max": "2147483648\n", v2 + "b/c/memory.max": "max\n"}, 2 << 30},
		"path with a colon": {"4:memory:/a:b\n", map[string]string{v1 + "a:b/memory.limit_in_bytes": "1073741824\n"}, 1 << 30},
		"none":              {"4:memory:/a\n", map[string]string{v1 + "a/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
	} {
		Root = t.TempDir()
		c.files["proc/self/cgroup"] = c.groups
		for path, text := range c.files {
			path = filepath.Join(Root, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got := container(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
