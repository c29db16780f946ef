package bench

import (
	"context"
	"io"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/report"
)

// Scaling is one curve: how the time of a product changes with one thing.
type Scaling struct {
	Over   string  `json:"over"` // what X counts: columns, threads or nodes
	Points []point `json:"points"`
}

// point is one product Y = D⁻¹A·X.
type point struct {
	X int `json:"x"`
	*Report
}

// Add times the product on t: over columns, which double, or threads from 1 to most, or
// over nodes as its next point.
func (s *Scaling) Add(ctx context.Context, t *Target, settings *Settings, limit int) error {
	if s.Over == "nodes" {
		return s.add(ctx, len(t.Degrees), t, settings)
	}
	now := *settings
	for x := 1; x <= limit; {
		next := 2 * x
		if now.Columns = x; s.Over == "threads" {
			now.Columns, now.Workers, next = settings.Columns, x, x+1
		}
		if err := s.add(ctx, x, t, &now); err != nil {
			return err
		}
		x = next
	}
	return nil
}

// add times the product on t as the next point.
func (s *Scaling) add(ctx context.Context, x int, t *Target, settings *Settings) error {
	v, err := spmm(ctx, t, settings)
	if err == nil {
		s.Points = append(s.Points, point{x, v})
	}
	return err
}

// SVG draws ns per entry and column over X, which has a logarithmic axis.
func (s *Scaling) SVG(w io.Writer, title string) error {
	line, largest := report.Line{}, 0.0
	x := report.Axis{Title: s.Over, Log: true}
	for _, p := range s.Points {
		line.Points = append(line.Points, report.Point{X: float64(p.X), Y: p.NsPerEntryColumn})
		x.Ticks = append(x.Ticks, report.Tick{At: float64(p.X), Text: strconv.Itoa(p.X)})
		largest = max(largest, p.NsPerEntryColumn)
	}
	y := report.Axis{Title: "ns per entry and column", High: 1.05 * largest} // from 0
	return report.WriteSVG(w, title, &report.Chart{X: x, Y: y, Lines: []report.Line{line}})
}
