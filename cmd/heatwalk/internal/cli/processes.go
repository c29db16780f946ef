package cli

import (
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
)

// isFollower reports whether another process prints and writes files.
func (run *session) isFollower() bool { return run.network != nil && run.network.Rank() > 0 }

// followerPause is the time before a follower reports an error. If all processes fail alike, the leader reports it,
// and mpirun ends the followers during this time.
const followerPause = 3 * time.Second

// stdinError is the error of reading stdin, which mpirun connects only to the leader.
type stdinError struct{}

// Read implements [io.Reader].
func (stdinError) Read([]byte) (int, error) {
	return 0, fault.Usage("-", "stdin reaches only one of several processes; give a file")
}

// join prepares a command that several processes run. It divides processors and memory among the processes of
// a host, and makes the limits equal in all processes, because they decide how blocks are cut. Commands
// that share no rows run only in the leader; followers get [heatwalk.ErrFollower].
func join(run *session, cmd *cobra.Command) error {
	if run.network == nil {
		return nil
	}
	if !isShared(cmd) {
		if run.isFollower() {
			return heatwalk.ErrFollower
		}
		run.note(fmt.Sprintf("%s runs in one of %d processes", strings.TrimPrefix(cmd.CommandPath(), "heatwalk "), run.network.Size()))
		run.network = nil
		return nil
	}
	if f := cmd.Flags().Lookup("resume"); f != nil && f.Changed {
		run.problem("--resume", "runs of several processes keep no journal; leave out --resume")
		return run.checked()
	}
	run.stdin = stdinError{}
	host, processors := placeOf()
	mine := []float64{float64(run.memory), float64(runtime.NumCPU()), host, processors}
	table := make([]float64, run.network.Size()*len(mine))
	run.network.AllGather(table, mine)
	memory, threads := int64(0), 0
	for p := 0; p < len(table); p += len(mine) {
		onHost, onProcessors := 0, 0
		for q := 0; q < len(table); q += len(mine) {
			if table[p+2] == table[q+2] {
				onHost++
			}
			if table[p+3] == table[q+3] {
				onProcessors++
			}
		}
		share := int64(table[p])
		if run.maxMemory == 0 {
			share /= int64(onHost)
		}
		if memory == 0 || share > 0 && share < memory {
			memory = share
		}
		if n := max(1, int(table[p+1])/onProcessors); threads == 0 || n < threads {
			threads = n
		}
	}
	if memory > 0 {
		memory, run.libraries = max(1, memory-libraryBytes), libraryBytes
	}
	run.memory = memory
	if run.threads == 0 {
		run.threads = threads
	}
	run.note(fmt.Sprintf("%d processes, %s each", run.network.Size(), words.Counted(min(run.threads, runtime.NumCPU()), "thread")))
	return nil
}

// libraryBytes is the resident memory of the libraries that connect processes.
const libraryBytes = 64 << 20

// isShared reports whether several processes share the rows of the graph in a command with its flags.
func isShared(cmd *cobra.Command) bool {
	if f := cmd.Flags().Lookup("multi-label"); f != nil && f.Changed {
		return false
	}
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	for _, c := range commands() {
		if c.name == cmd.Name() {
			return c.shared
		}
	}
	return false
}

// allowedProcessors matches the processors to which this process is bound, in its status in Linux.
var allowedProcessors = regexp.MustCompile(`(?m)^Cpus_allowed_list:.*$`)

// placeOf returns numbers that differ between hosts, and between sets of processors to which
// processes are bound.
func placeOf() (host, processors float64) {
	sum := fnv.New32a()
	name, _ := os.Hostname() // without a name, processes count as those of one host
	sum.Write([]byte(name))
	host = float64(sum.Sum32())
	status, _ := os.ReadFile("/proc/self/status") // of Linux
	sum.Write(allowedProcessors.Find(status))
	return host, float64(sum.Sum32())
}
