package bench

import (
	"context"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/heatwalk/heatwalk/sparse"
)

// Scaling is one curve: how the time of a product changes with one thing.
type Scaling struct {
	Over   string  `json:"over"` // what X counts: columns, threads or nodes
	Points []Point `json:"points"`
}

// Point is one product of a [Scaling].
type Point struct {
	X int `json:"x"`
	Sweeps
}

// OverColumns times [SpMM] on blocks of each number of columns.
func OverColumns[T sparse.Float](ctx context.Context, a sparse.Matrix, degrees []float64, columns []int, workers, repeat int) (*Scaling, error) {
	s := &Scaling{Over: "columns"}
	for _, k := range columns {
		sweeps, err := SpMM[T](ctx, a, degrees, nil, k, workers, repeat)
		if err != nil {
			return nil, err
		}
		s.Points = append(s.Points, Point{k, sweeps})
	}
	return s, nil
}

// OverThreads times [SpMM] on each number of threads up to most.
func OverThreads[T sparse.Float](ctx context.Context, a sparse.Matrix, degrees []float64, columns, most, repeat int) (*Scaling, error) {
	s := &Scaling{Over: "threads"}
	for threads := 1; threads <= most; threads++ {
		sweeps, err := SpMM[T](ctx, a, degrees, nil, columns, threads, repeat)
		if err != nil {
			return nil, err
		}
		s.Points = append(s.Points, Point{threads, sweeps})
	}
	return s, nil
}

// SVG draws ns per entry and column over X, which doubles from tick to tick.
func (s *Scaling) SVG(w io.Writer, title string) error {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = s.Over, "ns per entry and column"
	p.Y.Min = 0
	points := make(plotter.XYs, len(s.Points))
	var ticks []plot.Tick
	for i, point := range s.Points {
		points[i] = plotter.XY{X: math.Log2(float64(point.X)), Y: point.NsPerEntryColumn}
		p.Y.Max = math.Max(p.Y.Max, 1.1*points[i].Y)
		ticks = append(ticks, plot.Tick{Value: points[i].X, Label: strconv.Itoa(point.X)})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	p.Add(plotter.NewGrid(), line, dots)
	svg, err := p.WriterTo(14*vg.Centimeter, 9*vg.Centimeter, "svg")
	if err != nil {
		return err
	}
	_, err = svg.WriteTo(w)
	return err
}
