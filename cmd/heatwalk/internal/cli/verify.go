package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func newVerify(run *session) *cobra.Command {
	cmd, _ := newCommand(run, "verify GRAPH", "Read a whole store and check every checksum", nil, runVerify)
	return cmd
}

// verifyDocument is the JSON document of verify.
type verifyDocument struct {
	*shard.VerifyReport
	Closing
}

// runVerify verifies the store in dir and shows how much of it was read.
func runVerify(run *session, _ *struct{}, dir string) error {
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fault.Usage(dir, "is not a store; heatwalk ingest makes one")
	}
	opened, stage := false, (*progress.Stage)(nil)
	r, err := shard.Verify(run.ctx, dir, &shard.Options{Memory: run.dataLimit() / 2, Workers: run.threads}, func(bytes int64) error {
		opened = true
		p := run.newPlan()
		p.Sweeps = 2
		err := p.Reserve(bytes, "the store and its counts")
		if err == nil {
			err = run.begin(p)
		}
		stage = run.progress.Begin("verifying "+dir, 0, progress.Bytes)
		return err
	}, func(done, total int64) { stage.Set(done, total) })
	run.progress.End()
	if over := new(budget.Error); !opened && errors.As(err, &over) {
		// The store has half of the limit, the rest is for frames that are being read.
		err = &budget.Error{Need: 2*over.Need + over.Need/8, Limit: 2 * over.Limit, Largest: over.Largest}
	}
	if err != nil {
		return err
	}
	return run.printResult(&verifyDocument{VerifyReport: r}, func(w io.Writer) {
		fmt.Fprintf(w, "%s is whole: %s in %s, %s\n%s\n", dir,
			words.Counted(r.Entries, "entry"), words.Counted(r.Files, "file"), words.Bytes(r.Bytes), run.cost())
	})
}
