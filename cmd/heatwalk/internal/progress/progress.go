// Package progress shows on stderr how far a run has come.
package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/input"
)

// Display shows on stderr how far a run has come: on a terminal one line that is drawn
// again and again, elsewhere a line a minute for logs, or every few seconds with plain.
// Between stages it shows that the run goes on. A stage that took a while leaves its
// last line.
type Display struct {
	w       io.Writer
	shows   bool // on a terminal
	lines   bool
	every   time.Duration // between two lines
	json    bool
	started time.Time

	mu    sync.Mutex // of w and all below
	bars  *mpb.Progress
	bar   *mpb.Bar  // the only one
	stage *Stage    // the one that is shown
	rest  time.Time // when the one before ended
	timer *time.Timer
	over  bool // nothing is shown any more
}

const (
	firstAfter = 300 * time.Millisecond // what is over by then shows nothing
	jsonEvery  = 100 * time.Millisecond
	plainEvery = 3 * time.Second // between two lines with plain
	logEvery   = time.Minute     // between two lines of a log
	lastAfter  = time.Second     // what took as long leaves its last line on a terminal
)

// New returns a display on w: "none" for none, "plain" for lines, "json" for a line of JSON ten times a second, "auto" for a line that is
// drawn if w is a terminal and for a line a minute if not; asJSON makes lines JSON.
func New(w io.Writer, as string, quiet, asJSON bool) *Display {
	p := &Display{w: w, json: asJSON, started: time.Now()}
	p.rest = p.started
	switch {
	case quiet || as == "none":
	case as == "json":
		p.json = true
		p.write(jsonEvery)
	case as == "plain":
		p.write(plainEvery)
	case IsTerminal(w):
		p.shows = true
		p.timer = time.AfterFunc(firstAfter, p.show)
	default:
		p.write(logEvery)
	}
	return p
}

// write begins to write lines.
func (p *Display) write(every time.Duration) {
	p.lines, p.every = true, every
	p.timer = time.AfterFunc(every, p.tick)
}

// show begins to draw.
func (p *Display) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.bars = mpb.New(mpb.WithOutput(p.w), mpb.WithRefreshRate(100*time.Millisecond))
	p.bar = p.bars.MustAdd(0, mpb.BarFillerFunc(func(w io.Writer, s decor.Statistics) error {
		_, err := io.WriteString(w, p.text(s.AvailableWidth))
		return err
	}))
}

// text is the line of now, in so many columns.
func (p *Display) text(width int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage != nil {
		return p.stage.drawn(width)
	}
	return "working " + words.Seconds(time.Since(p.rest))
}

// tick writes a line of progress and comes again.
func (p *Display) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	if p.stage != nil {
		p.line(p.stage)
	} else {
		p.line(&Stage{name: "working", unit: nothing, started: p.rest})
	}
	p.timer.Reset(p.every)
}

// IsTerminal reports whether a stream is one.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && cwriter.IsTerminal(int(f.Fd()))
}

// Unit is what work is measured in: a noun, or bytes.
type Unit string

// The units that are no nouns.
const (
	Bytes   Unit = ""
	Shares  Unit = "share"   // a stage tells only what share of it is done, in parts of Whole
	nothing Unit = "nothing" // only the time of a stage is known
)

// Whole is all of a stage that is measured in shares.
const Whole = 1000

// amount writes n with its unit, of writes it in front of another amount.
func (u Unit) amount(n int64) string {
	switch u {
	case Bytes:
		return words.Bytes(n)
	case Shares:
		return fmt.Sprintf("%.0f %%", float64(n)*100/Whole)
	}
	return words.Counted(n, string(u))
}

func (u Unit) of(n int64) string {
	if u == Bytes || u == Shares {
		return u.amount(n)
	}
	return words.Count(n)
}

// Stage is one part of a run whose amount of work is known, or not (total 0).
type Stage struct {
	name    string
	total   atomic.Int64
	done    atomic.Int64
	unit    Unit
	part    atomic.Pointer[string] // what is done of the next unit; nil: that is not known
	started time.Time
}

// Begin shows a new stage in place of the one before. total may be 0 if it is
// not known.
func (p *Display) Begin(name string, total int64, u Unit) *Stage {
	s := &Stage{name: input.Escape(name), unit: u, started: time.Now()}
	s.total.Store(total)
	p.End()
	p.mu.Lock()
	p.stage = s
	p.mu.Unlock()
	return s
}

// Wait shows a new stage of which only the time is known.
func (p *Display) Wait(name string) { p.Begin(name, 0, nothing) }

// Set tells how much is done in all, and how much there is if that has become
// known (total > 0). It is safe for concurrent use.
func (s *Stage) Set(done, total int64) {
	s.done.Store(done)
	if total > 0 {
		s.total.Store(total)
	}
}

// within tells what is done of the next unit, "" if nothing is.
func (s *Stage) within(part string) { s.part.Store(&part) }

// snapshot is how far a stage is, in words that belong together.
type snapshot struct {
	amount, rate string
	left         string  // the time left, or where that is not known the time that passed
	share        float64 // done; −1 if not known
}

func (s *Stage) snapshot() snapshot {
	done, total, took := s.done.Load(), s.total.Load(), time.Since(s.started)
	n := snapshot{share: -1}
	if done > 0 { // "0 splits" would look like a result
		n.amount = s.unit.amount(done)
	}
	if total > 0 {
		total = max(total, done) // more than was expected
		n.share = float64(done) / float64(total)
		if s.unit != Shares {
			n.amount = s.unit.of(done) + " of " + s.unit.amount(total)
		}
	}
	if part := s.part.Load(); part != nil {
		n.amount = joined(n.amount, *part)
	}
	if s.unit == nothing {
		return snapshot{amount: words.Seconds(took), share: -1}
	}
	if seconds := took.Seconds(); seconds > 0.5 {
		rate := float64(done) / seconds
		if rate >= 1 && s.unit != Shares {
			n.rate = s.unit.amount(int64(rate)) + "/s"
		}
		n.left = words.Seconds(took) // which tells that it goes on
		if total > done && done > 0 {
			n.left = words.Seconds(time.Duration(float64(total-done)/rate*1e9)) + " left"
		}
	}
	return n
}

// secondsLeft estimates the time that the stage still takes; nil: unknown.
func (s *Stage) secondsLeft() *float64 {
	done, total := float64(s.done.Load()), float64(s.total.Load())
	if done <= 0 || total <= 0 {
		return nil
	}
	left := time.Since(s.started).Seconds() / done * max(0, total-done)
	return &left
}

// String tells amount, rate and the time left.
func (s *Stage) String() string {
	n := s.snapshot()
	return joined(n.amount, n.rate, n.left)
}

// joined joins what is not empty.
func joined(parts ...string) string {
	var text []string
	for _, part := range parts {
		if part != "" {
			text = append(text, part)
		}
	}
	return strings.Join(text, ", ")
}

// drawn is the stage as one line of so many columns: less is told where there is less
// room, the name last of all.
func (s *Stage) drawn(width int) string {
	n := s.snapshot()
	bar, percent := "", ""
	if n.share >= 0 {
		bar = drawnBar(n.share) + " "
		if s.unit != Shares {
			percent = fmt.Sprintf("%3.0f %%  ", 100*n.share)
		}
	}
	for _, line := range []string{
		s.name + " " + bar + percent + joined(n.amount, n.rate, n.left),
		s.name + " " + bar + percent + joined(n.amount, n.left),
		s.name + " " + percent + joined(n.amount, n.left),
		s.name + " " + percent + n.left,
	} {
		if utf8.RuneCountInString(line) < width {
			return line
		}
	}
	text := []rune(s.name + " " + percent)
	return string(text[max(0, len(text)-max(width-1, 0)):])
}

// drawnBar draws a share of one.
func drawnBar(share float64) string {
	const width = 24 // columns
	half := min(int(share*float64(2*width)), 2*width)
	text := strings.Repeat("━", half/2)
	if half%2 == 1 {
		text += "╸"
	}
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

// line writes how far a stage is; p.mu is held.
func (p *Display) line(s *Stage) {
	if p.json {
		_ = json.NewEncoder(p.w).Encode(map[string]any{
			"level": "info", "stage": s.name, "done": s.done.Load(), "total": s.total.Load(),
			"seconds": time.Since(s.started).Seconds(), "seconds_left": s.secondsLeft(),
		})
		return
	}
	fmt.Fprintf(p.w, "%s: %s\n", s.name, s)
}

// End ends the stage that is shown. If it took a while its last line stays.
func (p *Display) End() {
	p.mu.Lock()
	s := p.stage
	p.stage, p.rest = nil, time.Now()
	p.mu.Unlock()
	if s == nil {
		return
	}
	took := time.Since(s.started)
	if !p.shows && !p.lines || took < lastAfter || p.lines && took < p.every {
		return
	}
	if p.json {
		p.mu.Lock()
		p.line(s)
		p.mu.Unlock()
		return
	}
	amount := ""
	if done := s.done.Load(); done > 0 && s.unit != Shares {
		amount = s.unit.amount(done)
	}
	p.Print([]byte(s.name + ": " + joined(amount, words.Seconds(took)) + "\n"))
}

// Close ends the last stage; nothing is drawn any more when it returns.
func (p *Display) Close() {
	p.End()
	p.mu.Lock()
	bars := p.bars
	p.over, p.bars = true, nil
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	if bars != nil {
		p.bar.Abort(true)
		bars.Wait()
	}
}

// Above writes lines above what is drawn, false if nothing is.
func (p *Display) Above(lines []byte) bool {
	p.mu.Lock()
	bars := p.bars
	p.mu.Unlock()
	if bars == nil {
		return false
	}
	_, err := bars.Write(lines)
	return err == nil
}

// Print writes a line of text to stderr without tearing what is drawn apart.
func (p *Display) Print(line []byte) {
	if p.Above(line) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.w.Write(line)
}
