package report

import (
	"bytes"
	"encoding/csv"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/test/contract"
)

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
		{Axis{High: 1}, 0.2, 0.3, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{Axis{Log: true}, 0.02, 90, "0.01 0.1 1 10 100"},
		{Axis{Log: true}, 3, 45, "2 5 10 20 50"},
	} {
		s := test.axis.newScale(test.least, test.most)
		s.first, s.length = 100, 300
		var texts []string
		for _, tick := range s.ticks {
			texts = append(texts, tick.Text)
			x := number(t, tick.Text)
			share := (x - s.low) / (s.high - s.low)
			if s.log {
				share = (math.Log10(x) - s.low) / (s.high - s.low)
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

func sample() *Chart {
	return &Chart{Name: "f", Caption: "In \"words\".", X: Axis{Title: "x <&>", Log: true}, Y: Axis{Title: "y", High: 4}, Diagonal: true, Lines: []Line{
		{Name: "a<b", Points: []Point{{1, 2, 1.5, 2.5}, {10, 3, 2.5, 3.5}}}, {Name: "one point", Points: []Point{{3, 2, 1, 3}}},
	}}
}

// Texts of one line do not overlap.
func TestSVG(t *testing.T) {
	for _, hasLabels := range []bool{false, true} {
		c := sample()
		c.Labels = hasLabels
		checkSVG(t, c.scene(nil))
	}
}

func checkSVG(t *testing.T, s *scene) {
	t.Helper()
	text := s.svg()
	if strings.Contains(text, "NaN") {
		t.Errorf("%s", text)
	}
	contract.CheckXML(t, strings.NewReader(text))
	type span struct{ y, left, right float64 }
	var texts []span
	for _, m := range regexp.MustCompile(`<text x="(.+?)" y="(.+?)"(?: class="(\w+)")?>([^<]*)`).FindAllStringSubmatch(s.out.String(), -1) {
		x, y, half := number(t, m[1]), number(t, m[2]), textWidth(html.UnescapeString(m[4]))/2
		if x == 0 { // the title of the vertical axis
			continue
		}
		x += map[string]float64{"start": half, "end": -half}[m[3]]
		text := span{y, x - half, x + half}
		if text.left < -1 || text.right > width+1 || y > s.height {
			t.Errorf("text %q at %+v is not within %v × %v", m[4], text, width, s.height)
		}
		for _, other := range texts {
			if math.Abs(y-other.y) < 9 && text.left < other.right && other.left < text.right {
				t.Errorf("text %q at %+v overlaps %+v", m[4], text, other)
			}
		}
		texts = append(texts, text)
	}
}

// A number or a node whose text is the name of a series has no color.
func TestPage(t *testing.T) {
	table := &Table{
		Caption: "A <caption>.", Head: []string{"method", "note", "accuracy, %", "nodes"}, Bars: map[int]bool{3: true},
		Rows: [][]Cell{
			{{Text: "a<b"}, {Text: "first"}, {Text: "70.1 (0.2)", IsNumber: true, Value: 70.123, Margin: 0.2, Mark: "*"}, Count(4000)},
			{{Text: "c"}, {Text: "second"}, Percent(math.NaN(), 0), Count(1000)},
		},
	}
	p := &Page{Title: "<script>", Series: []string{"c", "a<b", "1,000", "n"}, Facts: []Fact{{"Command", "heatwalk 'a b'"}}, Summary: []string{"S & T."}}
	p.Add(
		&Section{Title: "One", Tables: []*Table{table, {Head: []string{"node"}, Rows: [][]Cell{{{Text: "n"}}}}}, Charts: []*Chart{sample()}},
		&Section{Title: "Two", Text: []string{"Empty."}, Tables: []*Table{{Head: []string{"a"}}}, Charts: []*Chart{{Diagonal: true}}},
	)
	var b bytes.Buffer
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	contract.CheckPage(t, b.String(),
		"<title>&lt;script&gt;</title>", `<caption>A &lt;caption&gt;.</caption>`, `<th scope="row" class="text"><i class="swatch s1"></i>a&lt;b</th><td class="text">first</td><td><span class="mark">*</span><b>70.1 (0.2)</b></td>`,
		`<td>–</td><td style="--bar:25%">1,000</td>`, `<th scope="col" class="text">note</th><th scope="col">accuracy, %</th>`,
		"a&lt;b,first,70.123,0.2,*,4000", `aria-label="In &#34;words&#34;."`, `download="f.svg" href="data:image/svg+xml;base64,`, `<path class="l s1"`,
	)
	if strings.Contains(b.String(), "swatch s2") || strings.Contains(b.String(), "swatch s3") {
		t.Error("a count or a node has the color of a series")
	}
	if strings.Contains(b.String(), "Two") {
		t.Error("the page has a section without content")
	}
}

func TestTableCSV(t *testing.T) {
	table := &Table{Head: []string{"class", "F1, %"}, Rows: [][]Cell{{{Text: "a_b & \"c\""}, Percent(0.5, 0.01)}}}
	rows, err := csv.NewReader(strings.NewReader(table.CSV())).ReadAll()
	if diff := cmp.Diff([][]string{{"class", "F1, %", "F1, %, standard error"}, {"a_b & \"c\"", "50", "1"}}, rows); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

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

// The document itself must not change.
func TestEncode(t *testing.T) {
	type inner struct {
		Rate float32 `json:"rate"`
	}
	type document struct {
		inner
		Share  *float64   `json:"share"`
		Values []float64  `json:"values"`
		Pair   [2]float64 `json:"pair"`
		Text   string     `json:"text"`
		Whole  any        `json:"-"`
	}
	share := math.NaN()
	d := document{inner{float32(math.Inf(-1))}, &share, []float64{1, math.Inf(1)}, [2]float64{math.Inf(1), 2}, "<b>", nil}
	d.Whole = &d
	got, err := Encode(&d)
	if want := `{"rate":null,"share":null,"values":[1,null],"pair":[null,2],"text":"<b>"}` + "\n"; err != nil || string(got) != want {
		t.Errorf("%s, error %v, want %s", got, err, want)
	}
	if !math.IsNaN(share) || !math.IsInf(d.Values[1], 1) || !math.IsInf(d.Pair[0], 1) || !math.IsInf(float64(d.Rate), -1) {
		t.Error("the document was changed")
	}
}
