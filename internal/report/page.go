package report

import (
	_ "embed"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"
)

type Page struct {
	Title    string
	Summary  []string // paragraphs
	Facts    []Fact   // facts about the subject of the page
	Run      []Fact   // facts about the run, at the end of the page
	Series   []string // names, for example of methods, that have a color on the whole page
	Sections []*Section
}

type Fact struct{ Name, Value string }

// Section is a part of a page: paragraphs, markup, charts and tables, in this order.
type Section struct {
	Title  string
	Text   []string // paragraphs
	Markup string   // HTML whose texts are already escaped
	Charts []*Chart
	Tables []*Table
}

// Add appends sections, without tables that have no rows and charts that have no lines. It omits sections without
// tables, charts and markup.
func (p *Page) Add(sections ...*Section) {
	for _, s := range sections {
		s.Charts = slices.DeleteFunc(s.Charts,
			func(c *Chart) bool { return len(c.Lines) == 0 })
		s.Tables = slices.DeleteFunc(s.Tables,
			func(t *Table) bool { return len(t.Rows) == 0 })
		if len(s.Charts)+len(s.Tables)+len(s.Markup) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
}

//go:embed page.css
var pageCSS string

func (p *Page) WriteHTML(w io.Writer) error {
	var m markup
	m.add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"heatwalk\">\n")
	m.element("<title>", p.Title)
	m.add("\n<style>\n", drawingCSS, pageCSS,
		"</style>\n</head>\n<body>\n<header>\n")
	m.element("<h1>", p.Title)
	m.add("\n")
	m.paragraphs(`<p class="summary">`, p.Summary)
	m.facts(p.Facts)
	m.add("</header>\n<nav aria-label=\"Sections\">")
	for i, s := range p.Sections {
		m.element(`<a href="#s`+strconv.Itoa(i+1)+`">`, s.Title)
	}
	m.add("<a href=\"#run\">This run</a></nav>\n<main>\n")
	for i, s := range p.Sections {
		id := "s" + strconv.Itoa(i+1)
		m.add(`<section aria-labelledby="`, id, "\">\n")
		m.element(`<h2 id="`+id+`">`, s.Title)
		m.add("\n")
		m.paragraphs("<p>", s.Text)
		m.add(`<div class="parts">`, s.Markup)
		for _, c := range s.Charts {
			c.writeHTML(&m, p.Series)
		}
		for _, t := range s.Tables {
			t.writeHTML(&m, p.Series)
		}
		m.add("</div>\n</section>\n")
	}
	m.add("<section aria-labelledby=\"run\">\n<h2 id=\"run\">This run</h2>\n")
	m.facts(p.Run)
	m.add("</section>\n</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, m.String())
	return err
}

// mostNarrow is the largest number of characters of a row of a narrow table. A wider table gets the whole width of the
// page.
const mostNarrow = 66

// columns returns the width of the table in characters, without turned titles.
func (t *Table) columns() (sum int) {
	for i, title := range t.Head {
		widest := utf8.RuneCountInString(title)
		if t.Turned > 0 && i >= t.Turned {
			widest = 0
		}
		for _, row := range t.Rows {
			widest = max(widest, min(longest, utf8.RuneCountInString(row[i].Text)))
		}
		sum += widest + 2
	}
	return sum
}

// writeHTML writes the table, and a copy of it as CSV.
func (t *Table) writeHTML(m *markup, series []string) {
	class := "part"
	if t.columns() > mostNarrow {
		class = "across"
	}
	m.add(`<div class="`, class, "\">\n")
	if t.Folded {
		m.add("<details>")
		m.element("<summary>", t.Caption)
	} else {
		m.element(`<p class="caption" aria-hidden="true">`, t.Caption)
	}
	m.add("\n<div class=\"wide\" role=\"region\" tabindex=\"0\"")
	m.attribute("aria-label", t.Caption)
	m.add("><table>\n")
	m.element("<caption>", t.Caption)
	m.add("\n<thead><tr>")
	classes := make([]string, len(t.Head))
	for i, title := range t.Head {
		if !t.numeric(i) {
			classes[i] = "text"
		}
		m.add(`<th scope="col"`)
		if t.Turned > 0 && i >= t.Turned {
			m.attribute("class", "turned")
		} else {
			m.attribute("class", classes[i])
		}
		m.add(">")
		m.wrap(title)
		m.add("</th>")
	}
	m.add("</tr></thead>\n<tbody>")
	largest := t.largest()
	for _, row := range t.Rows {
		m.add("<tr>")
		for i, c := range row {
			closing := "</td>"
			if i == 0 {
				m.add(`<th scope="row"`)
				closing = "</th>"
			} else {
				m.add("<td")
			}
			m.attribute("class", classes[i])
			switch {
			case t.Bars[i] && largest[i] > 0 && c.IsNumber:
				m.add(` style="--bar:`, pixel(100*max(0, c.Value/largest[i])), `%"`)
			case c.Shade > 0:
				m.add(` style="--shade:`, pixel(60*c.Shade), `%"`)
			}
			m.add(">")
			number := slices.Index(series, c.Text)
			if number >= 0 && classes[i] == "text" && t.Head[i] != "node" {
				m.add(`<i class="swatch`, seriesClass(number), `"></i>`)
			}
			if c.Mark != "" {
				m.element(`<span class="mark">`, c.Mark)
			}
			if c.Mark == bestMark {
				m.element("<b>", c.Text)
			} else {
				m.wrap(c.Text)
			}
			m.add(closing)
		}
		m.add("</tr>\n")
	}
	m.add("</tbody></table></div>\n")
	m.add("<details class=\"copy\"><summary>Copy as CSV</summary>\n")
	m.element(`<pre tabindex="0">`, t.CSV())
	m.add("</details>\n")
	if t.Folded {
		m.add("</details>\n")
	}
	m.add("</div>\n")
}
