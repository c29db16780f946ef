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
	cmd.RunE = in.runs(func(*cobra.Command, []string) {}, func(args []string) error {
		if info, err := os.Stat(args[0]); err != nil {
			return err
		} else if !info.IsDir() {
			return fault.Usage(args[0], "is not a store; heatwalk ingest makes one")
		}
		report, err := in.verify(args[0])
		if err != nil {
			return err
		}
		v := &struct {
			*shard.VerifyReport
			Closing
		}{VerifyReport: report}
		return in.tell(v, func(w io.Writer) {
			fmt.Fprintf(w, "%s is whole: %s in %s, %s\n%s\n", args[0],
				words.Counted(report.Entries, "entry"), words.Counted(int64(report.Files), "file"), words.Bytes(report.Bytes), in.cost())
		})
	})
	return cmd
}

// verify verifies the store in dir and shows how much of it was read.
func (in *invocation) verify(dir string) (*shard.VerifyReport, error) {
	s, err := shard.Open(in.ctx, dir, &shard.Options{Stream: true, Memory: in.dataLimit() / 2, Workers: in.threads})
	if err != nil {
		return nil, openError(err)
	}
	defer s.Close()
	n := in.needs()
	n.Sweeps = 2
	if err := n.Reserve(s.Memory(), "nodes, and frames on their way"); err != nil {
		return nil, err
	}
	if err := n.ReserveList(s.VerifyMemory()); err != nil {
		return nil, err
	}
	if err := in.keepTo(n); err != nil {
		return nil, err
	}
	stage := in.progress.Begin("verifying "+dir, 2*s.Manifest.Size(), progress.Bytes)
	defer in.progress.End()
	return s.Verify(in.ctx, in.threads, func(done, _ int64) { stage.Set(done, 0) })
}
