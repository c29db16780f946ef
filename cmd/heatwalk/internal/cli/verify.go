package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func newVerify(in *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify GRAPH",
		Short: "Read a whole store and check every checksum",
		Args:  in.arguments("GRAPH", 1, 1),
	}
	cmd.RunE = in.runs(func(*cobra.Command, []string) {}, func(args []string) error { return in.verify(args[0]) })
	return cmd
}

// verified is the JSON document of verify.
type verified struct {
	*shard.VerifyReport
	Closing
}

// verify verifies the store in dir and shows how much of it was read.
func (in *invocation) verify(dir string) error {
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fault.Usage(dir, "is not a store; heatwalk ingest makes one")
	}
	s, err := shard.Open(in.ctx, dir, &shard.Options{Stream: true, Memory: in.dataLimit() / 2, Workers: in.threads})
	if err != nil {
		return openError(err)
	}
	defer s.Close()
	n := in.needs()
	n.Sweeps = 2
	err = n.Reserve(s.Memory(), "nodes, and frames on their way")
	if err == nil {
		err = n.ReserveList(s.VerifyMemory())
	}
	if err == nil {
		err = in.keepTo(n)
	}
	if err != nil {
		return err
	}
	stage := in.progress.Begin("verifying "+dir, 2*s.Manifest.Size(), progress.Bytes)
	r, err := s.Verify(in.ctx, in.threads, func(done, _ int64) { stage.Set(done, 0) })
	in.progress.End()
	if err != nil {
		return err
	}
	return in.tell(&verified{VerifyReport: r}, func(w io.Writer) {
		fmt.Fprintf(w, "%s is whole: %s in %s, %s\n%s\n", dir,
			words.Counted(r.Entries, "entry"), words.Counted(int64(r.Files), "file"), words.Bytes(r.Bytes), in.cost())
	})
}
