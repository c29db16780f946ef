package lines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// A table such as user_id,item_id joins two kinds of nodes, each numbered from 1. Without a prefix such as
// user_id:1, user 1 and item 1 would be the same node.

// separateKinds sets the prefixes of ids if the graph is bipartite. Otherwise it warns if source and target may be
// two kinds of nodes, see [table.AreKinds].
func (h *head) separateKinds() {
	lay := h.lay
	titles := [2]string{input.Source, input.Target}
	for i, use := range titles {
		index := slices.IndexFunc(lay.Columns,
			func(c input.Column) bool { return c.Use == use })
		if index >= 0 && lay.first > lay.line &&
			strings.TrimSpace(lay.Columns[index].Title) != "" {
			titles[i] = strings.TrimSpace(lay.Columns[index].Title)
		}
	}
	if titles[0] == titles[1] {
		titles = [2]string{input.Source, input.Target}
	}
	if h.c.Bipartite {
		lay.simple = false // ids with prefixes are not in the text of the file
		lay.prefix = [2]string{titles[0] + ":", titles[1] + ":"}
		return
	}
	if lay.HasHeader() && titles != [2]string{input.Source, input.Target} && table.AreKinds(&h.s, lay.source, lay.target) {
		h.c.warnKinds(h.name, fmt.Sprintf("the columns %s and %s may hold two kinds of nodes", words.Quoted(titles[0]), words.Quoted(titles[1])))
	}
}

func (c *Settings) warnKinds(name, msg string) {
	if !c.Bipartite {
		c.Warn(textio.Fault(name, 0, "{bipartite} keeps them apart",
			"%s, and equal ids are one node", msg))
	}
}
