package lines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// A table such as user_id,item_id joins two kinds of nodes, each numbered from 1. As ids of one
// kind, user 1 and item 1 would be one node. With Settings.Bipartite every id gets the title of its
// column in front, for example user_id:1; without, such a table is warned of.

// separateKinds sets the prefixes of the ids of a bipartite graph, or else warns if the titles name
// two kinds of nodes with ids in common.
func (h *head) separateKinds() {
	lay := h.lay
	titles := [2]string{input.Source, input.Target}
	for i, use := range titles {
		index := slices.IndexFunc(lay.Columns, func(c input.Column) bool { return c.Use == use })
		if index >= 0 && lay.first > lay.line && strings.TrimSpace(lay.Columns[index].Title) != "" {
			titles[i] = strings.TrimSpace(lay.Columns[index].Title)
		}
	}
	if titles[0] == titles[1] {
		titles = [2]string{input.Source, input.Target}
	}
	if h.c.Bipartite {
		lay.simple = false // ids are no text of the file
		lay.prefix = [2]string{titles[0] + ":", titles[1] + ":"}
		return
	}
	if table.AreKinds(titles[0], titles[1]) && h.hasCommonIDs() {
		h.c.warnKinds(h.name, fmt.Sprintf("the columns %s and %s hold two kinds of nodes", table.Quoted(titles[0]), table.Quoted(titles[1])))
	}
}

// warnKinds warns that two kinds of nodes are taken for one.
func (c *Settings) warnKinds(name, msg string) {
	if !c.Bipartite {
		c.Warn(&textio.Error{File: name, Msg: msg + ", and equal ids are one node", Fix: "{bipartite} keeps them apart"})
	}
}

// hasCommonIDs reports whether an id may be in both columns: one of the first lines is, or all are
// integers.
func (h *head) hasCommonIDs() bool {
	sources := map[string]bool{}
	integers := true
	for _, row := range h.s.Rows {
		if max(h.lay.source, h.lay.target) < len(row) {
			source := row[h.lay.source]
			target := row[h.lay.target]
			sources[source] = true
			integers = integers && table.IsInteger([]byte(source)) && table.IsInteger([]byte(target))
		}
	}
	return integers || slices.ContainsFunc(h.s.Rows, func(row []string) bool {
		return h.lay.target < len(row) && sources[row[h.lay.target]]
	})
}
