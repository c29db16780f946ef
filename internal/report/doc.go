// Package report writes results as pages of HTML and draws charts as SVG. Each page is one file that needs no other
// file, no network and no JavaScript.
//
// A [Page] is a title, facts and sections. A [Section] is a heading, sentences, [Chart]s and [Table]s:
//
//	page := &report.Page{Title: "Two methods", Series: []string{"lp", "cwk"}}
//	page.Add(&report.Section{
//		Title:  "Accuracy",
//		Charts: []*report.Chart{{Name: "accuracy", X: report.Axis{Title: "labels"}, Y: report.Axis{Title: "accuracy, %"}, Lines: lines}},
//		Tables: []*report.Table{{Caption: "Accuracy in %.", Head: []string{"method", "5 %"}, Rows: rows}},
//	})
//	err := page.WriteHTML(w)
//
// A series has the same color in all charts and tables of a page; in charts it also has its own dash pattern and
// marker. The ten colors, and ten others in dark mode, have a contrast of at least 3.2 to the background. Under each
// kind of color blindness (Machado, Oliveira and Fernandes 2009) any two of them are at least 28 apart in CIELAB. Every
// chart can be saved as SVG, every table can be copied as CSV. Text in a page is escaped.
package report
