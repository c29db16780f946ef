package checkpoint

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// journal is a file beside the output of a run, and bounds what writing it takes.
type journal struct {
	path   string
	run    func() (Run, error)
	spare  int64         // bytes of the disk that the journal leaves
	warmup time.Duration // until the run writes for the first time
	begun  time.Time     // when the run began
	next   time.Time     // when the journal is written, at the earliest

	spent   time.Duration // on the file in all
	written float64       // bytes
	writing time.Duration // time that writing has taken
}

const (
	// Rest is how many times as long as writing a file a run goes on until it does so again.
	Rest = 20

	// Before anything is written it is expected to go as if so many bytes had taken so long.
	usualBytes = 64 << 20
	usualTime  = time.Second / 8
)

// Warmup is how long a run goes on until it writes for the first time, unless told
// otherwise.
const Warmup = 5 * time.Second

func newJournal(output string, spare int64, warmup time.Duration, run func() (Run, error)) journal {
	now := time.Now()
	return journal{path: output + ".journal", run: sync.OnceValues(run), spare: spare, warmup: warmup, begun: now, next: now.Add(warmup)}
}

// inFile reports whether an output is one in a file, beside which a journal may stand.
func inFile(output string) bool {
	info, err := durable.OS.Stat(output)
	return output != "-" && (err != nil || info.Mode().IsRegular())
}

// pays reports whether writing so many bytes is expected to take little of the time of the
// run so far, and the disk has room.
func (j *journal) pays(bytes int64) bool {
	takes := time.Duration(float64(bytes) / (usualBytes + j.written) * float64(usualTime+j.writing))
	if j.spent+takes > time.Since(j.begun)/Rest {
		return false
	}
	free, err := durable.OS.Free(filepath.Dir(j.path))
	return err != nil || free-bytes >= j.spare
}

// wrote notes that so many bytes were written from began on; what led to that began at start.
func (j *journal) wrote(bytes int64, start, began time.Time) {
	j.spent += time.Since(start)
	j.written, j.writing = j.written+float64(bytes), j.writing+time.Since(began)
}
