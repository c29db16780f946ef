package shell

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

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Display shows the progress of a run on stderr: on a terminal as one line that is redrawn, elsewhere as a
// line a minute for logs, or every few seconds with plain. Between stages it shows the elapsed time.
type Display struct {
	w        io.Writer
	shows    bool
	lines    bool
	interval time.Duration
	json     bool
	started  time.Time

	mu    sync.Mutex // guards w and the fields below
	bars  *mpb.Progress
	bar   *mpb.Bar
	stage *Stage
	idle  time.Time // end of the previous stage
	timer *time.Timer
	over  bool
}

const (
	firstAfter = 300 * time.Millisecond // shorter runs show nothing
	jsonEvery  = 100 * time.Millisecond
	plainEvery = 3 * time.Second
	logEvery   = time.Minute
	lastAfter  = time.Second // the last line of a stage of this duration stays on a terminal
)

// NewDisplay returns a display on w. as is "none", "plain" for lines, "json" for a line of JSON ten times a
// second, or "auto". With "auto" it redraws one line if w is a terminal, and otherwise writes a line a
// minute. If asJSON is set, lines are JSON.
func NewDisplay(w io.Writer, as string, quiet, asJSON bool) *Display {
	p := &Display{w: w, json: asJSON, started: time.Now()}
	p.idle = p.started
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

func (p *Display) write(interval time.Duration) {
	p.lines = true
	p.interval = interval
	p.timer = time.AfterFunc(interval, p.tick)
}

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

func (p *Display) text(width int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage != nil {
		return p.stage.draw(width)
	}
	return "working " + words.Seconds(time.Since(p.idle))
}

// tick writes a line of progress and schedules the next one.
func (p *Display) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	if p.stage != nil {
		p.line(p.stage)
	} else {
		p.line(&Stage{name: "working", unit: nothing, started: p.idle})
	}
	p.timer.Reset(p.interval)
}

func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && cwriter.IsTerminal(int(f.Fd()))
}

// Unit is the unit of an amount of work: a noun, or bytes.
type Unit string

// Units that are not nouns.
const (
	Bytes   Unit = ""
	Shares  Unit = "share"   // the stage reports the finished share, in parts of Whole
	nothing Unit = "nothing" // only the time of a stage is known
)

// Whole is the total of a stage that is measured in shares.
const Whole = 1000

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

// Stage is one part of a run; its total is 0 if the amount of work is not known.
type Stage struct {
	name    string
	total   atomic.Int64
	done    atomic.Int64
	unit    Unit
	detail  atomic.Pointer[string]  // progress within the next unit; nil: not known
	left    atomic.Pointer[float64] // least time left so far, in seconds; nil: not known
	started time.Time
}

// Begin shows a new stage instead of the previous stage. total is 0 if it is not known.
func (p *Display) Begin(name string, total int64, u Unit) *Stage {
	s := &Stage{name: input.Escape(name), unit: u, started: time.Now()}
	s.total.Store(total)
	p.End()
	p.mu.Lock()
	p.stage = s
	p.mu.Unlock()
	return s
}

// Wait shows a new stage for which only the elapsed time is known.
func (p *Display) Wait(name string) { p.Begin(name, 0, nothing) }

// Set sets the finished amount, and the total if total > 0. It does nothing if the finished share would fall.
// It is safe for concurrent use.
func (s *Stage) Set(done, total int64) {
	if former := s.total.Load(); total > 0 &&
		float64(done)*float64(former) < float64(s.done.Load())*float64(total) {
		return
	}
	s.done.Store(done)
	if total > 0 {
		s.total.Store(total)
	}
}

func (s *Stage) within(text string) { s.detail.Store(&text) }

// snapshot is a consistent view of the progress of a stage, as text.
type snapshot struct {
	amount, rate string
	left         string  // remaining time, or elapsed time if the remaining time is not known
	share        float64 // finished share; −1 if not known
}

func (s *Stage) snapshot() snapshot {
	done := s.done.Load()
	total := s.total.Load()
	took := time.Since(s.started)
	if s.unit == nothing {
		return snapshot{amount: words.Seconds(took), share: -1}
	}
	n := snapshot{amount: s.amountText(done, total), share: -1}
	if total > 0 {
		n.share = float64(done) / float64(max(total, done)) // more than expected
	}
	if took.Seconds() > 0.5 {
		n.rate = s.rateText(float64(done) / took.Seconds())
		n.left = words.Seconds(took) // shows that the run continues
		if left := s.secondsLeft(); left != nil && total > done {
			n.left = words.Seconds(time.Duration(*left*1e9)) + " left"
		}
	}
	return n
}

// amountText returns the finished amount and the progress within the next unit.
func (s *Stage) amountText(done, total int64) string {
	text := ""
	switch {
	case total > 0 && s.unit != Shares:
		text = s.unit.of(done) + " of " + s.unit.amount(max(total, done))
	case done > 0: // "0 splits" would look like a result
		text = s.unit.amount(done)
	}
	if detail := s.detail.Load(); detail != nil {
		text = joinParts(text, *detail)
	}
	return text
}

// rateText returns rate, the amount per second, as text. It returns "" if rate is below 1 or the unit is a
// share.
func (s *Stage) rateText(rate float64) string {
	if rate < 1 || s.unit == Shares {
		return ""
	}
	return s.unit.amount(int64(rate)) + "/s"
}

// secondsLeft estimates the remaining time. Repeated estimates never rise. It returns nil if the time is not known, or
// if the stage has become so slow that a new estimate would be more than twice the former estimate.
func (s *Stage) secondsLeft() *float64 {
	done := float64(s.done.Load())
	total := float64(s.total.Load())
	if done <= 0 || total <= 0 {
		return nil
	}
	left := time.Since(s.started).Seconds() / done * max(0, total-done)
	if former := s.left.Load(); former != nil {
		if left > 2**former {
			return nil
		}
		left = min(left, *former)
	}
	s.left.Store(&left)
	return &left
}

func (s *Stage) String() string {
	n := s.snapshot()
	return joinParts(n.amount, n.rate, n.left)
}

func joinParts(parts ...string) string {
	var text []string
	for _, piece := range parts {
		if piece != "" {
			text = append(text, piece)
		}
	}
	return strings.Join(text, ", ")
}

// draw returns the stage as one line of the given number of columns. It omits parts that do not fit, the name
// last.
func (s *Stage) draw(width int) string {
	n := s.snapshot()
	bar := ""
	percent := ""
	if n.share >= 0 {
		bar = drawBar(n.share) + " "
		if s.unit != Shares {
			percent = fmt.Sprintf("%3.0f %%  ", 100*n.share)
		}
	}
	for _, line := range []string{
		s.name + " " + bar + percent + joinParts(n.amount, n.rate, n.left),
		s.name + " " + bar + percent + joinParts(n.amount, n.left),
		s.name + " " + percent + joinParts(n.amount, n.left),
		s.name + " " + percent + n.left,
	} {
		if utf8.RuneCountInString(line) < width {
			return line
		}
	}
	text := []rune(s.name + " " + percent)
	return string(text[max(0, len(text)-max(width-1, 0)):])
}

func drawBar(share float64) string {
	const width = 24 // columns
	half := min(int(share*float64(2*width)), 2*width)
	text := strings.Repeat("━", half/2)
	if half%2 == 1 {
		text += "╸"
	}
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

// line writes the progress of a stage; p.mu must be locked.
func (p *Display) line(s *Stage) {
	if p.json {
		_ = json.NewEncoder(p.w).Encode(map[string]any{
			"time": time.Now().UTC(), "level": "info", "stage": s.name, "done": s.done.Load(), "total": s.total.Load(),
			"seconds": time.Since(s.started).Seconds(), "seconds_left": s.secondsLeft(),
		})
		return
	}
	fmt.Fprintf(p.w, "%s: %s\n", s.name, s)
}

// End ends the current stage. The last line of a long stage stays.
func (p *Display) End() {
	p.mu.Lock()
	s := p.stage
	p.stage, p.idle = nil, time.Now()
	p.mu.Unlock()
	if s == nil {
		return
	}
	took := time.Since(s.started)
	if !p.shows && !p.lines || took < lastAfter || p.lines && took < p.interval {
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
	p.Print([]byte(s.name + ": " + joinParts(amount, words.Seconds(took)) + "\n"))
}

// Close ends the last stage. Nothing is drawn after it returns.
func (p *Display) Close() {
	p.End()
	p.mu.Lock()
	bars := p.bars
	p.over = true
	p.bars = nil
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	if bars != nil {
		p.bar.Abort(true)
		bars.Wait()
	}
}

// Above writes lines above the drawn line, or returns false if nothing is drawn.
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

// Print writes a line of text to stderr without damaging the drawn line.
func (p *Display) Print(line []byte) {
	if p.Above(line) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.w.Write(line)
}
