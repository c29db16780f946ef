// Package report draws figures and writes pages about results of this module, each as one file that
// needs no other file, no network and no JavaScript.
//
// A [Drawing] is a [Chart] of curves, [Bars], or a [Heat] map. [WriteSVG] writes drawings
// as a file. A [Page] has sections of text, tables and figures, and is written as HTML:
//
//	page := &report.Page{Title: "Two methods", Sections: []report.Section{{
//		Title: "Accuracy",
//		Parts: []report.Part{{Figure: &report.Figure{
//			Name: "accuracy", Caption: "Accuracy over the training size.",
//			Drawing: &report.Chart{X: report.Axis{Title: "labels"}, Y: report.Axis{Title: "accuracy, %"}, Lines: lines},
//			Table:   table,
//		}}},
//	}}}
//	err := page.WriteHTML(w)
//
// Series differ in color, in dash pattern and in the shape of their markers. The ten colors, another
// ten of them in dark mode, have a contrast of at least 3.2 to the background. Under each kind of color
// blindness (Machado, Oliveira and Fernandes 2009) any two of them are at least 28 apart in CIELAB. Every figure
// has a text for screen readers, a table of its numbers, and a link that saves it as SVG. Tables of
// numbers can be copied as CSV and as LaTeX. Text that appears in a page is escaped.
package report
