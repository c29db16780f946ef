package report

import (
	_ "embed"
	"encoding/base64"
	"io"
	"strconv"
	"strings"
)

// Page is a report.
type Page struct {
	Title    string
	Facts    []Fact   // the subject of the page, and the run that made it
	Summary  []string // paragraphs
	Sections []Section
}

// Fact is a property of the page.
type Fact struct{ Name, Value string }

// Section is a titled part of a page.
type Section struct {
	Title string
	Text  []string // paragraphs before the parts
	Parts []Part
	Small bool // the parts are placed next to each other where the page is wide
}

// Part is a table or a figure, under a title unless that is "".
type Part struct {
	Title  string
	Figure *Figure
	Table  *Table
}

// Figure is a drawing with the table of its numbers.
type Figure struct {
	Name    string // of the file that it is saved as, without an ending
	Caption string
	Alt     string // the figure in words, for readers who do not see it
	Drawing Drawing
	Table   *Table // may be nil
}

//go:embed page.css
var pageCSS string

// limit is the size in bytes above which a page leaves out copies of tables.
const limit = 300_000

// omissions are the parts that a page leaves out to become smaller: the least useful first.
var omissions = []string{"", "tables as LaTeX", "tables as CSV and LaTeX"}

// WriteHTML writes the page as one file. A page above 300 kB leaves out the tables as LaTeX, and then
// as CSV, and has a line about that.
func (p *Page) WriteHTML(w io.Writer) error {
	var m *markup
	for level := range omissions {
		m = &markup{omitted: level}
		if err := p.writeTo(m); err != nil {
			return err
		}
		if m.Len() <= limit {
			break
		}
	}
	return m.writeTo(w)
}

func (p *Page) writeTo(m *markup) error {
	m.add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"heatwalk\">\n")
	m.element("<title>", p.Title)
	m.add("\n<style>\n", drawingCSS, pageCSS, "</style>\n</head>\n<body>\n<header>\n")
	m.element("<h1>", p.Title)
	m.add("\n<dl>")
	for _, f := range p.Facts {
		m.element("<dt>", f.Name)
		m.element("<dd>", f.Value)
	}
	if m.omitted > 0 {
		m.element("<dt>", "Left out")
		m.element("<dd>", omissions[m.omitted]+", to keep the page below "+strconv.Itoa(limit/1000)+" kB")
	}
	m.add("</dl>\n")
	for _, paragraph := range p.Summary {
		m.element(`<p class="summary">`, paragraph)
		m.add("\n")
	}
	m.add("</header>\n<nav aria-label=\"Sections\">")
	for i, s := range p.Sections {
		m.element(`<a href="#`+anchor(i)+`">`, s.Title)
	}
	m.add("</nav>\n<main>\n")
	for i := range p.Sections {
		if err := p.Sections[i].writeTo(m, anchor(i)); err != nil {
			return err
		}
	}
	m.add("</main>\n</body>\n</html>\n")
	return nil
}

// anchor returns the name of section i for links.
func anchor(i int) string { return "s" + strconv.Itoa(i+1) }

func (s *Section) writeTo(m *markup, anchor string) error {
	m.add(`<section aria-labelledby="`, anchor, "\">\n")
	m.element(`<h2 id="`+anchor+`">`, s.Title)
	m.add("\n")
	for _, paragraph := range s.Text {
		m.element("<p>", paragraph)
		m.add("\n")
	}
	m.add("<div")
	if s.Small {
		m.add(` class="small"`)
	}
	m.add(">")
	for _, p := range s.Parts {
		m.add("<div>")
		if p.Title != "" {
			m.element("<h3>", p.Title)
			m.add("\n")
		}
		if p.Figure != nil {
			if err := p.Figure.writeTo(m); err != nil {
				return err
			}
		}
		if p.Table != nil {
			p.Table.writeTo(m)
			if !p.Table.Prose && m.omitted < 2 {
				if err := p.Table.writeCopies(m); err != nil {
					return err
				}
			}
		}
		m.add("</div>\n")
	}
	m.add("</div>\n</section>\n")
	return nil
}

func (f *Figure) writeTo(m *markup) error {
	image, err := svg(f.Drawing)
	if err != nil {
		return err
	}
	s := f.Drawing.scene()
	m.add("<figure>\n<svg class=\"drawing\" viewBox=\"0 0 ", pixel(s.Width), " ", pixel(s.Height), `" role="img"`)
	m.attribute("aria-label", f.Alt)
	m.add(">")
	s.writeTo(m)
	m.add("</svg>\n<figcaption>")
	m.text(f.Caption)
	m.add(` <a class="save"`)
	m.attribute("download", f.Name+".svg")
	m.add(` href="data:image/svg+xml;base64,`, base64.StdEncoding.EncodeToString(image), "\">Save as SVG</a></figcaption>\n")
	if f.Table != nil {
		m.add("<details><summary>Numbers of the figure</summary>\n")
		f.Table.writeTo(m)
		m.add("</details>")
	}
	m.add("</figure>\n")
	return nil
}

func (t *Table) writeTo(m *markup) {
	m.element(`<p class="caption" aria-hidden="true">`, t.Caption)
	var classes []string
	if t.Prose {
		classes = append(classes, "prose")
	}
	if t.Turned {
		classes = append(classes, "turned")
	}
	m.add("\n<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Table\"><table")
	m.attribute("class", strings.Join(classes, " "))
	m.add(">\n")
	m.element("<caption>", t.Caption)
	m.add("\n<thead><tr>")
	head := t.Head
	titles := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		titles[i] = row[0].Text
	}
	if t.Turned { // the copies have the whole names
		head, titles = shortened(head), shortened(titles)
	}
	for _, title := range head {
		m.add(`<th scope="col">`)
		m.wrapped(title)
		m.add("</th>")
	}
	m.add("</tr></thead>\n<tbody>")
	for r, row := range t.Rows {
		m.add("<tr>")
		for i, c := range row {
			if i == 0 {
				m.add(`<th scope="row">`)
				c.Text = titles[r]
			} else {
				m.add("<td")
				m.attribute("class", c.Class())
				m.add(">")
			}
			if c.Mark != "" {
				m.element(`<span class="mark">`, c.Mark)
			}
			switch {
			case c.Strong:
				m.element("<b>", c.Text)
			case !t.Prose:
				m.wrapped(c.Text)
			default:
				m.text(c.Text)
			}
			m.add(map[bool]string{true: "</th>", false: "</td>"}[i == 0])
		}
		m.add("</tr>\n")
	}
	m.add("</tbody></table></div>\n")
}

// writeCopies writes the table as texts that can be copied.
func (t *Table) writeCopies(m *markup) error {
	values, err := t.CSV()
	if err != nil {
		return err
	}
	if m.omitted > 0 {
		m.add("<details class=\"copy\"><summary>Copy as CSV</summary>\n")
		m.element(`<pre tabindex="0">`, values)
	} else {
		m.add("<details class=\"copy\"><summary>Copy as CSV or LaTeX</summary>\n<p>CSV</p>")
		m.element(`<pre tabindex="0">`, values)
		m.add("<p>LaTeX</p>")
		m.element(`<pre tabindex="0">`, t.LaTeX())
	}
	m.add("</details>\n")
	return nil
}
