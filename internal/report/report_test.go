package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/heatwalk/heatwalk/internal/report/reporttest"
)

// Positions of points are those of the ticks, on linear and on logarithmic axes.
func TestScale(t *testing.T) {
	for _, test := range []struct {
		axis        Axis
		least, most float64
		ticks       string
	}{
		{Axis{}, 0.602, 0.748, "0.60 0.65 0.70 0.75"},
		{Axis{}, 1, 9.5, "0 2 4 6 8 10"},
		{Axis{}, -3, 4, "-4 -2 0 2 4"},
		{Axis{}, 5, 5, "4.4 4.6 4.8 5.0 5.2 5.4 5.6"},
		{Axis{From: 0, To: 1}, 0.2, 0.3, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{Axis{Log: true}, 0.02, 90, "0.01 0.1 1 10 100"},
		{Axis{Log: true}, 3, 45, "2 5 10 20 50"},
		{Axis{Log: true, Ticks: []Tick{{1, "1"}, {7, "7"}}, From: 1, To: 49}, 1, 49, "1 7"},
	} {
		s := test.axis.newScale(test.least, test.most)
		s.first, s.length = 100, 300
		var texts []string
		for _, tick := range s.ticks {
			texts = append(texts, tick.Text)
			x := number(t, tick.Text)
			share := (x - s.from) / (s.to - s.from)
			if s.log {
				share = (math.Log10(x) - s.from) / (s.to - s.from)
			}
			if got, want := s.at(tick.At), 100+300*share; math.Abs(got-want) > 1e-6 {
				t.Errorf("%+v: tick %s at %v, want %v", test.axis, tick.Text, got, want)
			}
		}
		if got := strings.Join(texts, " "); got != test.ticks {
			t.Errorf("%+v, %v to %v: ticks %s, want %s", test.axis, test.least, test.most, got, test.ticks)
		}
		if low, high := s.at(test.least), s.at(test.most); low < 100 || high > 400 {
			t.Errorf("%+v: %v to %v are drawn at %v to %v", test.axis, test.least, test.most, low, high)
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// samples are one drawing of each kind, with texts that need escaping.
func samples() []Drawing {
	return []Drawing{
		&Chart{X: Axis{Title: "x <&>", Log: true}, Y: Axis{Title: "y"}, Lines: []Line{
			{Name: "a<b", Points: []Point{{1, 2, 0.5}, {10, 3, 0.5}}}, {Name: "one point", Points: []Point{{3, 2, 1}}},
			{Name: "reference", Reference: true, Points: []Point{{1, 1, 0}, {10, 1, 0}}},
		}},
		&Bars{X: Axis{Title: "n"}, Series: []string{"known", "predicted"}, Bars: []Bar{
			{Label: "a&b", Values: []float64{1, 2}, Texts: []string{"1", "2"}}, {Label: strings.Repeat("long ", 20), Values: []float64{0, 3}, Texts: []string{"0", "3"}},
		}},
		&Bars{Bars: []Bar{{Label: "zero", Values: []float64{0}}}},
		&Heat{X: "α", Y: "steps", Columns: []string{"0.1", "0.9"}, Rows: []string{"1", "<2>"}, Values: [][]float64{{70, math.NaN()}, {72, 75}}, Text: func(x float64) string { return strconv.Itoa(int(x)) }, From: 70, To: 75, ChosenRow: 1, ChosenColumn: 1},
	}
}

// An SVG is well-formed, its shapes lie within its frame, and texts of one line do not overlap.
func TestWriteSVG(t *testing.T) {
	for _, d := range samples() {
		var b bytes.Buffer
		if err := WriteSVG(&b, "a <title>", d); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), ">a &lt;title&gt;</text>") || strings.Contains(b.String(), "NaN") {
			t.Errorf("%s", b.String())
		}
		reporttest.WellFormed(t, &b)
		s := d.scene()
		for i, a := range s.Shapes {
			if a.Text == "" {
				continue
			}
			left, right := extent(a)
			if left < -1 || right > s.Width+1 || a.Y > s.Height {
				t.Errorf("text %q from %v to %v, %v is not within %v × %v", a.Text, left, right, a.Y, s.Width, s.Height)
			}
			for _, other := range s.Shapes[:i] {
				from, to := extent(other)
				if other.Text != "" && !a.Turned && !other.Turned && math.Abs(a.Y-other.Y) < 9 && left < to && from < right {
					t.Errorf("texts %q and %q overlap", a.Text, other.Text)
				}
			}
		}
	}
}

// extent returns the ends of a text.
func extent(s shape) (left, right float64) {
	w := textWidth(s.Text)
	switch {
	case s.Turned:
		return s.X - 12, s.X + 4
	case s.Anchor == "start":
		return s.X, s.X + w
	case s.Anchor == "end":
		return s.X - w, s.X
	}
	return s.X - w/2, s.X + w/2
}

func TestPage(t *testing.T) {
	table := &Table{
		Caption: "A <caption>.", Head: []string{"method", "5 %"},
		Rows: [][]Cell{{{Text: "a<b"}, {Text: "70.1 (0.2)", Mark: "*", Strong: true}}, Texts("c", "60")},
		Data: [][]string{{"method", "accuracy"}, {"a<b", "0.701"}},
	}
	p := &Page{Title: "<script>", Facts: []Fact{{"Command", "heatwalk 'a b'"}}, Summary: []string{"S & T."}, Sections: []Section{{Title: "One", Parts: []Part{{Table: table}}}}}
	for i, d := range samples() {
		p.Sections[0].Parts = append(p.Sections[0].Parts, Part{Figure: &Figure{Name: "f" + strconv.Itoa(i), Caption: "C.", Alt: "In \"words\".", Drawing: d, Table: table}})
	}
	var b bytes.Buffer
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	reporttest.Check(t, b.String(),
		"<title>&lt;script&gt;</title>", `<caption>A &lt;caption&gt;.</caption>`, `<th scope="row">a&lt;b</th><td><span class="mark">*</span><b>70.1 (0.2)</b></td>`,
		"a&lt;b,0.701", `\textbf{70.1 (0.2)} \\`, `aria-label="In &#34;words&#34;."`, `download="f0.svg" href="data:image/svg+xml;base64,`,
	)
}

func TestTableCopies(t *testing.T) {
	table := &Table{Head: []string{"class", "F1, %"}, Rows: [][]Cell{Texts("a_b & \"c\"", "50 ± 1")}}
	text, err := table.CSV()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if diff := cmp.Diff([][]string{{"class", "F1, %"}, {"a_b & \"c\"", "50 ± 1"}}, rows); err != nil || diff != "" {
		t.Error(err, diff)
	}
	const want = "% requires \\usepackage{booktabs}\n\\begin{tabular}{lr}\n\\toprule\nclass & F1, \\% \\\\\n\\midrule\na\\_b \\& \"c\" & 50 $\\pm$ 1 \\\\\n\\bottomrule\n\\end{tabular}\n"
	if diff := cmp.Diff(want, table.LaTeX()); diff != "" {
		t.Error(diff)
	}
}

// The colors of series have a contrast of at least 3.2 to the background, in light and in dark mode.
func TestContrast(t *testing.T) {
	light, dark := colors(t, drawingCSS), colors(t, pageCSS)
	for i := range series {
		for _, c := range []struct{ color, background string }{{light[i], "ffffff"}, {dark[i], "16181c"}} {
			if got := contrast(t, c.color, c.background); got < 3.2 {
				t.Errorf("series %d: contrast %.2f of %s to %s", i, got, c.color, c.background)
			}
		}
	}
}

// colors returns the colors of series in a style sheet.
func colors(t *testing.T, css string) (list [series]string) {
	t.Helper()
	found := regexp.MustCompile(`\.s(\d) \{ color: #([0-9a-f]{6})`).FindAllStringSubmatch(css, -1)
	if len(found) != series {
		t.Fatalf("%d colors", len(found))
	}
	for _, m := range found {
		list[int(number(t, m[1]))] = m[2]
	}
	return list
}

// contrast returns the contrast ratio of two colors of the Web Content Accessibility Guidelines.
func contrast(t *testing.T, a, b string) float64 {
	luminance := func(color string) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v, err := strconv.ParseUint(color[2*i:2*i+2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			c := float64(v) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestShortened shortens labels to the part that distinguishes them.
func TestShortened(t *testing.T) {
	got := shortened([]string{"Department of Applied Mathematics", "x", "Department of Applied Chemistry and Physics of Glass"})
	want := []string{"…Mathematics", "x", "…Chemistry and Physics …"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := shortened([]string{"Department of Applied Mathematics"})[0]; got != "Department of Applied M…" {
		t.Errorf("one label: %q", got)
	}
}

// TestLimit writes tables that are too large for a page with all of their copies.
func TestLimit(t *testing.T) {
	for _, test := range []struct {
		rows        int
		has, hasNot string
	}{
		{10, "Copy as CSV or LaTeX", "Left out"},
		{3000, "<dd>tables as LaTeX, to keep the page below 300 kB</dd>", "booktabs"},
		{4000, "<dd>tables as CSV and LaTeX, to keep the page below 300 kB</dd>", "Copy"},
	} {
		table := &Table{Head: []string{"method", "accuracy"}}
		for range test.rows {
			table.Rows = append(table.Rows, Texts("label propagation", "75.0 (0.3)"))
		}
		var b strings.Builder
		if err := (&Page{Sections: []Section{{Parts: []Part{{Table: table}}}}}).WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), test.hasNot) {
			t.Errorf("%d rows: the page contains %q", test.rows, test.hasNot)
		}
		reporttest.Check(t, b.String(), test.has)
	}
}
