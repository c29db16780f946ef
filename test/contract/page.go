package contract

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

var (
	references = regexp.MustCompile(`(?:href|src)="([^"]*)`)
	unclosed   = regexp.MustCompile(`<!DOCTYPE html>|<meta [^>]*>`) // all other elements of a page are closed
)

// CheckPage checks that a page of package report is well-formed, refers to nothing outside of the page, and has the
// given parts.
func CheckPage(t *testing.T, html string, parts ...string) {
	t.Helper()
	for _, never := range []string{"NaN", "<script", "<link", "@import", "%!"} {
		if strings.Contains(html, never) {
			t.Errorf("the page contains %q", never)
		}
	}
	for _, m := range references.FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page refers to %q", m[1])
		}
	}
	for _, part := range parts {
		if !strings.Contains(html, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	CheckXML(t, strings.NewReader(unclosed.ReplaceAllString(html, "")))
}

// CheckXML reads XML to its end.
func CheckXML(t *testing.T, r io.Reader) {
	t.Helper()
	d := xml.NewDecoder(r)
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
