package report

import (
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strconv"
	"sync"
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

//go:embed page.html
var pageHTML string

var page = sync.OnceValue(func() *template.Template {
	t := newTemplates() // a template that was executed cannot be cloned
	return template.Must(t.New("page").Funcs(template.FuncMap{
		"scene": Drawing.scene,
		"saved": func(d Drawing) (template.URL, error) {
			image, err := svg(d)
			return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(image)), err
		},
		"number": func(i int) string { return strconv.Itoa(i + 1) },
		"later":  func(i int) bool { return i > 0 },
	}).Parse(pageHTML))
})

// WriteHTML writes the page as one file.
func (p *Page) WriteHTML(w io.Writer) error { return page().ExecuteTemplate(w, "page", p) }
