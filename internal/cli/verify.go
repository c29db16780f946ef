package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func newVerify(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "verify GRAPH",
		Short: "Read a whole store and check every checksum",
		Args:  in.arguments("GRAPH", 1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := in.checked(); err != nil {
				return err
			}
			if info, err := os.Stat(args[0]); err != nil {
				return err
			} else if !info.IsDir() {
				in.problem(args[0], "is not a store; heatwalk ingest makes one")
				return in.checked()
			}
			report, err := in.verify(args[0])
			if err != nil {
				return err
			}
			if in.json {
				return in.document(struct {
					*shard.VerifyReport
					Closing
				}{report, in.closing()})
			}
			fmt.Fprintf(in.summary(), "%s is whole: %s in %s, %s\n%s\n", args[0],
				counted(report.Entries, "entry"), counted(int64(report.Files), "file"), formatBytes(report.Bytes), in.cost())
			return in.stdout.err
		},
	}
}

// verify verifies the store in dir and shows how much of it was read.
func (in *invocation) verify(dir string) (*shard.VerifyReport, error) {
	total, err := verifyBytes(dir)
	if err != nil {
		return nil, err
	}
	stage := in.progress.begin("verifying "+dir, total, inBytes)
	defer in.progress.end()
	var done atomic.Int64
	o := in.storeOptions()
	o.FS = readFS{durable.OS, func(n int) { stage.set(min(done.Add(int64(n)), total), 0) }}
	return shard.Verify(in.ctx, dir, o)
}

// verifyBytes returns about how many bytes a verification of dir reads: shards
// frame by frame and as a whole.
func verifyBytes(dir string) (int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			total += info.Size()
			if filepath.Ext(e.Name()) == ".shard" {
				total += info.Size()
			}
		}
	}
	return total, nil
}

// readFS is a file system that tells how many bytes are read from its files.
type readFS struct {
	durable.FS
	read func(n int)
}

// Open implements [durable.FS].
func (f readFS) Open(name string) (durable.File, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return readFile{file, f.read}, nil
}

type readFile struct {
	durable.File
	read func(n int)
}

// ReadAt implements [io.ReaderAt].
func (f readFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.read(n)
	return n, err
}
