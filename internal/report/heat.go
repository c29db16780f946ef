package report

import (
	"math"
	"strconv"
)

// Heat draws a matrix of values as cells that are the darker the larger the value is.
type Heat struct {
	X, Y          string      // titles of the axes; Y may be ""
	Columns, Rows []string    // values of the axes
	Values        [][]float64 // by row and column; NaN leaves a cell empty
	Text          func(value float64) string
	From, To      float64 // values of the lightest and the darkest cell
	ChosenRow     int     // the cell with a frame
	ChosenColumn  int     // below 0: none
}

// mostTexts is the number of columns from which the cells have no text.
const mostTexts = 13

// darkest is the opacity of the largest value. The text of the cells remains legible on it.
const darkest = 0.62

// levels is the number of opacities above 0.
const levels = 16

// scene implements [Drawing].
func (h *Heat) scene() *scene {
	s := &scene{Width: width}
	rows, columns := shortened(h.Rows), shortened(h.Columns)
	left := widest(rows) + 8
	if h.Y != "" {
		left += lineHeight
	}
	size := math.Floor(min(64, (width-left-4)/float64(len(columns))))
	height := min(size, 26)
	top := 4.0
	bottom := top + height*float64(len(rows))
	var cells [levels + 1]string // paths of the cells of each opacity
	for i, row := range h.Values {
		for j, v := range row {
			if !math.IsNaN(v) {
				share := min(1, max(0, (v-h.From)/max(h.To-h.From, math.SmallestNonzeroFloat64)))
				cells[int(math.Round(levels*share))] += box(left+size*float64(j), top+height*float64(i), size, height)
			}
		}
	}
	for level, path := range cells {
		if path != "" {
			s.Shapes = append(s.Shapes, shape{Class: "cell", Path: path, Opacity: strconv.FormatFloat(darkest*float64(level)/levels, 'f', 2, 64)})
		}
	}
	for i, row := range h.Values {
		y := top + height*(float64(i)+0.5) + 4
		s.text(left-6, y, "end", rows[i])
		for j, v := range row {
			if !math.IsNaN(v) && len(columns) <= mostTexts {
				s.text(left+size*(float64(j)+0.5), y, "", h.Text(v))
			}
		}
	}
	if h.ChosenColumn >= 0 {
		s.path("chosen", box(left+size*float64(h.ChosenColumn), top+height*float64(h.ChosenRow), size, height))
	}
	turned := widest(columns)+6 > size
	below := lineHeight
	if turned {
		below = widest(columns) + 8
	}
	for j, text := range columns {
		x := left + size*(float64(j)+0.5)
		if turned {
			s.Shapes = append(s.Shapes, shape{Text: text, X: round(x + 4), Y: round(bottom + 6), Anchor: "end", Turned: true})
		} else {
			s.text(x, bottom+lineHeight-2, "", text)
		}
	}
	if h.Y != "" {
		s.turned(12, (top+bottom)/2, h.Y)
	}
	s.text(left+size*float64(len(columns))/2, bottom+below+lineHeight, "", h.X)
	s.Height = bottom + below + 1.5*lineHeight
	return s
}
