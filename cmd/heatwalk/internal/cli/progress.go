package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress shows on stderr how far a run has come: bars on a terminal, a line
// every few seconds where lines were asked for, nothing otherwise.
type progress struct {
	w     io.Writer
	bars  *mpb.Progress // nil: no bars
	lines bool
	json  bool

	mu    sync.Mutex // of w
	stage *stage     // the one that is shown
}

// lineEvery is the time between two lines of progress.
const lineEvery = 3 * time.Second

func newProgress(ctx context.Context, w io.Writer, as string, quiet, asJSON bool) *progress {
	p := &progress{w: w, json: asJSON}
	switch {
	case quiet || as == "none":
	case as == "plain":
		p.lines = true
	case isTerminal(w):
		p.bars = mpb.NewWithContext(context.WithoutCancel(ctx), mpb.WithOutput(w), mpb.WithWidth(100))
	}
	return p
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && cwriter.IsTerminal(int(f.Fd()))
}

// unit is what work is measured in: a noun, or bytes.
type unit string

const inBytes unit = ""

// amount writes n with its unit, of writes it in front of another amount.
func (u unit) amount(n int64) string {
	switch u {
	case inBytes:
		return formatBytes(n)
	case inShares:
		return fmt.Sprintf("%.0f %%", float64(n)*100/whole)
	}
	return counted(n, string(u))
}

func (u unit) of(n int64) string {
	if u == inBytes || u == inShares {
		return u.amount(n)
	}
	return formatCount(n)
}

// inShares measures a stage that tells only what share of it is done, in parts
// of whole.
const inShares unit = "share"

const whole = 1000

// stage is one part of a run whose amount of work is known, or not (total 0).
type stage struct {
	p       *progress
	name    string
	total   atomic.Int64
	done    atomic.Int64
	unit    unit
	started time.Time
	next    atomic.Int64 // when the next line is due, in nanoseconds after started
	bar     *mpb.Bar
}

// begin shows a new stage in place of the one before. total may be 0 if it is
// not known. It is safe to call on a nil progress.
func (p *progress) begin(name string, total int64, u unit) *stage {
	s := &stage{p: p, name: name, unit: u, started: time.Now()}
	s.total.Store(total)
	s.next.Store(int64(lineEvery))
	if p == nil {
		return s
	}
	p.end()
	p.mu.Lock()
	p.stage = s
	p.mu.Unlock()
	if p.bars != nil {
		s.bar = p.bars.New(max(total, 1), mpb.BarStyle().Lbound("").Filler("━").Tip("╸").Padding(" ").Rbound(""),
			mpb.BarRemoveOnComplete(), mpb.BarWidth(32),
			mpb.PrependDecorators(decor.Name(name+" ")),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + s.String() })))
	}
	return s
}

// showing returns a callback that shows a stage whose work is counted in the
// unit, from its first call on.
func (in *invocation) showing(name string, u unit) func(done, total int) {
	var shown *stage
	return func(done, total int) {
		if shown == nil {
			shown = in.progress.begin(name, int64(total), u)
		}
		shown.set(int64(done), int64(total))
	}
}

// set tells how much is done in all, and how much there is if that has become
// known (total > 0). It is safe for concurrent use.
func (s *stage) set(done, total int64) {
	s.done.Store(done)
	if total > 0 {
		s.total.Store(total)
	}
	if s.bar != nil {
		// The bar must not complete before end.
		whole := max(s.total.Load(), done) + 1
		s.bar.SetTotal(whole, false)
		s.bar.SetCurrent(done)
	}
	if s.p == nil || !s.p.lines {
		return
	}
	now, due := int64(time.Since(s.started)), s.next.Load()
	if now >= due && s.next.CompareAndSwap(due, now+int64(lineEvery)) {
		s.p.line(s)
	}
}

// String tells amount, rate and the time left.
func (s *stage) String() string {
	done, total, took := s.done.Load(), s.total.Load(), time.Since(s.started)
	text := s.unit.amount(done)
	if total > 0 && s.unit != inShares {
		text = s.unit.of(done) + " of " + s.unit.amount(total)
	}
	if seconds := took.Seconds(); seconds > 0.5 && done > 0 {
		rate := float64(done) / seconds
		if rate >= 1 && s.unit != inShares {
			text += ", " + s.unit.amount(int64(rate)) + "/s"
		}
		if total > done {
			text += ", " + formatSeconds(time.Duration(float64(total-done)/rate*1e9)) + " left"
		}
	}
	return text
}

func (p *progress) line(s *stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.json {
		_ = json.NewEncoder(p.w).Encode(map[string]any{
			"level": "info", "stage": s.name, "done": s.done.Load(), "total": s.total.Load(),
			"seconds": time.Since(s.started).Seconds(),
		})
		return
	}
	fmt.Fprintf(p.w, "%s: %s\n", s.name, s)
}

// end takes away what is shown.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	s := p.stage
	p.stage = nil
	p.mu.Unlock()
	if s != nil && s.bar != nil {
		s.bar.Abort(true)
		s.bar.Wait()
	}
}

// close ends the last stage; bars are gone from the terminal when it returns.
func (p *progress) close() {
	if p == nil {
		return
	}
	p.end()
	if p.bars != nil {
		p.bars.Wait()
		p.bars = nil
	}
}

// print writes a line of text to stderr without tearing a bar apart.
func (p *progress) print(line []byte) {
	if p.bars != nil {
		if _, err := p.bars.Write(line); err == nil {
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.w.Write(line)
}
