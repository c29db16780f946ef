package input

import (
	"cmp"
	"slices"
	"strings"
)

// Column reports how one column of a table is used.
type Column struct {
	Title string `json:"title"`          // title in the header, or "column 3"
	Use   string `json:"use,omitempty"`  // a use below, or the kind of an attribute: "number", "12 categories"; "": ignored
	Note  string `json:"note,omitempty"` // why it is ignored, for example "dates", or "reciprocal" for a weight

	// Of the first rows, if they are known. Run files do not have them.
	Type   string   `json:"-"` // "integer", "number", "amount in EUR", "time", "text" or "empty"
	Values []string `json:"-"` // at most three
}

// Uses of columns.
const (
	Source = "source"
	Target = "target"
	Weight = "weight"
	Kind   = "kind"
	Time   = "time"
	Node   = "node"
	Label  = "label"
	Value  = "value" // a number to be predicted
	Part   = "part"  // part of a split: train or test
	Index  = "index" // row numbers, which are skipped
)

var useOrder = []string{Source, Target, Weight, Kind, Time, Node, Label,
	Value, Part}

// Columns reports how the columns of a table are used, in the order of the file.
type Columns []Column

// IgnoreAll returns the report of a table whose columns, with the given titles, are all ignored.
func IgnoreAll(titles []string) Columns {
	c := make(Columns, len(titles))
	for i, title := range titles {
		c[i].Title = title
	}
	return c
}

// IsUsual reports whether every title names its use, so that there is nothing to report.
func (c Columns) IsUsual() bool {
	return !slices.ContainsFunc(c,
		func(col Column) bool { return col.Use == "" || !strings.EqualFold(col.Title, col.Use) })
}

// String returns the report as text, for example "customer_id → node, segment → label; skipped the index
// column; ignored: age, city, joined (dates)". Titles are escaped.
func (c Columns) String() string {
	var used, ignored, parts []string
	index := false
	rank := func(use string) int {
		if position := slices.Index(useOrder, use); position >= 0 {
			return position
		}
		return len(useOrder)
	}
	sorted := slices.Clone(c)
	slices.SortStableFunc(sorted,
		func(a, b Column) int { return cmp.Compare(rank(a.Use), rank(b.Use)) })
	for _, col := range sorted {
		title := shown(col.Title)
		switch col.Use {
		case "":
			if col.Note != "" {
				title += " (" + col.Note + ")"
			}
			ignored = append(ignored, title)
		case Index:
			index = true
		default:
			if col.Note != "" {
				title = col.Note + " of " + title
			}
			used = append(used, title+" → "+col.Use)
		}
	}
	if used != nil {
		parts = append(parts, few(used))
	}
	if index {
		parts = append(parts, "skipped the index column")
	}
	if ignored != nil {
		parts = append(parts, "ignored: "+few(ignored))
	}
	return strings.Join(parts, "; ")
}

func few(list []string) string {
	const most = 20
	if len(list) > most {
		return strings.Join(list[:most], ", ") + ", …"
	}
	return strings.Join(list, ", ")
}

func shown(title string) string {
	const most = 60 // bytes
	switch {
	case strings.TrimSpace(title) == "":
		return "(untitled)"
	case len(title) > most:
		return Escape(title[:most]) + "…"
	}
	return Escape(title)
}
