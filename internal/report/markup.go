package report

import (
	"html"
	"strings"
	"unicode/utf8"
)

// markup is HTML or SVG under construction. It is used because package html/template finds fields and methods by name
// at run time: the linker would then keep every exported method of the whole program, a fifth of its size.
type markup struct{ strings.Builder }

// add appends markup without escaping.
func (m *markup) add(parts ...string) {
	for _, p := range parts {
		m.WriteString(p)
	}
}

// text appends s, escaped as text or as a quoted attribute.
func (m *markup) text(s string) {
	m.WriteString(html.EscapeString(s))
}

func (m *markup) element(open, text string) {
	m.add(open)
	m.text(text)
	name, _, _ := strings.Cut(strings.Trim(open, "<>"), " ")
	m.add("</", name, ">")
}

func (m *markup) paragraphs(open string, texts []string) {
	for _, text := range texts {
		m.element(open, text)
		m.add("\n")
	}
}

// facts appends a list of facts, if there are any.
func (m *markup) facts(list []Fact) {
	if len(list) == 0 {
		return
	}
	m.add("<dl>")
	for _, f := range list {
		m.element("<dt>", f.Name)
		m.element("<dd>", f.Value)
	}
	m.add("</dl>\n")
}

// longest is the largest number of characters of a text in a cell that is not broken into lines.
const longest = 24

// wrap appends the text of a cell. It breaks a long text into lines, which leaves space for numbers.
func (m *markup) wrap(text string) {
	if utf8.RuneCountInString(text) > longest {
		m.element(`<span class="long">`, text)
	} else {
		m.text(text)
	}
}

func (m *markup) attribute(name, value string) {
	if value != "" {
		m.add(" ", name, `="`)
		m.text(value)
		m.add(`"`)
	}
}
