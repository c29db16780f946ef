package lines

import (
	"bytes"
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
	} else if count := h.countShared(); !lay.HasHeader() && count > 0 {
		h.c.warnKinds(h.name, fmt.Sprintf("source and target may be two kinds of nodes, because they share only %s", table.Counted(count, "id")))
	}
}

// countShared returns the number of ids that are in both columns if these are few of many ids; 0 if they are many or if
// only the beginning of the file is in memory.
func (h *head) countShared() (count int) {
	const many, few = 20, 20 // ids of a column; ids of a column for each one that is shared
	const edges = 2          // for each id of a column, since a sample of a large graph shares few
	if !h.c.isWhole {
		return 0
	}
	var f table.Fields
	lines := 0
	ids := [2]map[string]bool{{}, {}}
	for line := range bytes.Lines(h.s.Text) {
		if f.Split(bytes.TrimRight(line, "\n"), h.lay.sep) != nil || len(f.Text) <= max(h.lay.source, h.lay.target) {
			continue
		}
		lines++
		for end, column := range [...]int{h.lay.source, h.lay.target} {
			ids[end][string(f.Text[column])] = true
		}
	}
	for id := range ids[0] {
		if ids[1][id] {
			count++
		}
	}
	fewer := min(len(ids[0]), len(ids[1]))
	if fewer < many || count*few > fewer || lines < edges*fewer {
		return 0
	}
	return count
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
