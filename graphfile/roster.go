package graphfile

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/heatwalk/heatwalk/internal/table"
)

// roster holds the nodes of a format that lists them before its edges, and
// settles what they are called: by the first kind of name that all nodes have
// and no two share. It settles at the first edge.
//
// It also follows the directions of the edges as they come. A graph is directed if
// the file says so or one of its edges is, and then an edge without a direction goes
// both ways; so none of those may have come before.
type roster struct {
	*sink
	kinds   []string // what the kinds of names are called, the id last
	least   int      // the first kind that may be chosen
	pending []pendingNode
	names   map[string]string // of the nodes, by the id that edges use; once settled
	kind    int               // that was chosen; once settled
	taken   map[string]bool   // names, where they are not the ids
	notes   []string
	bytes   int64

	directed bool
	loose    bool // an edge without a direction has been handed over once
}

// pendingNode is a node before it is settled what it is called.
type pendingNode struct {
	line  int64
	names []string // of each kind, "" if it has none; the last is its id
}

func newRoster(s *sink, kinds ...string) *roster {
	return &roster{sink: s, kinds: kinds, directed: s.Directed}
}

// add adds a node with its names, one of each kind.
func (r *roster) add(line int64, names ...string) error {
	const node = 150 // for maps, headers and what edges are looked up by
	r.bytes += node
	for _, name := range names {
		r.bytes += int64(len(name))
	}
	if err := r.hold(r.bytes); err != nil {
		return err
	}
	if r.names == nil {
		r.pending = append(r.pending, pendingNode{line, names})
		return nil
	}
	return r.enter(pendingNode{line, names})
}

// usable reports whether all nodes have a name of a kind, and no two the same.
func (r *roster) usable(kind int) bool {
	seen := make(map[string]bool, len(r.pending))
	for _, n := range r.pending {
		name, wrong := cleanID([]byte(n.names[kind]))
		if wrong != "" {
			return false
		}
		if seen[string(name)] {
			r.notes = append(r.notes, fmt.Sprintf("several nodes have the %s %s; nodes are called by their %s", r.kinds[kind], table.Quoted(name), r.kinds[len(r.kinds)-1]))
			return false
		}
		seen[string(name)] = true
	}
	return true
}

// settle settles what nodes are called and hands over those that there are.
func (r *roster) settle() error {
	if r.names != nil {
		return nil
	}
	r.names, r.taken = map[string]string{}, map[string]bool{}
	r.kind = len(r.kinds) - 1
	for kind := r.least; kind < r.kind; kind++ {
		if len(r.pending) > 0 && r.usable(kind) {
			r.kind = kind
			break
		}
	}
	pending := r.pending
	r.pending = nil
	for _, n := range pending {
		if err := r.enter(n); err != nil {
			return err
		}
	}
	return nil
}

// enter adds a node under the kind of name that was chosen.
func (r *roster) enter(n pendingNode) error {
	id := n.names[len(n.names)-1]
	if _, twice := r.names[id]; twice {
		return r.fault(n.line, "give each node an id of its own", "node %s is there already", table.Quoted(id))
	}
	name, wrong := cleanID([]byte(n.names[r.kind]))
	if wrong != "" {
		return r.fault(n.line, "correct it", "the %s of node %s %s", r.kinds[r.kind], table.Quoted(id), wrong)
	}
	if r.taken[string(name)] {
		return r.fault(n.line, "list all nodes before the edges", "node %s has the %s of another one, %s", table.Quoted(id), r.kinds[r.kind], table.Quoted(name))
	}
	r.taken[string(name)] = true
	r.names[id] = string(name)
	return r.node(name)
}

// edge adds an edge between the nodes with these ids, whose weight is the text weight,
// or else value, or else 1.
func (r *roster) edge(line int64, source, target, weight, value string, directed bool) error {
	if source == "" || target == "" {
		return r.fault(line, "give it both", "an edge without source or target")
	}
	w := 1.0
	if text := strings.TrimSpace(cmp.Or(weight, value)); text != "" {
		var wrong string
		r.weighted = true
		if w, wrong = r.word(line, []byte(text)); wrong != "" {
			return r.fault(line, "correct it", "weight %s %s", table.Quoted(text), wrong)
		}
	}
	both, err := r.goesBothWays(line, directed)
	if err != nil {
		return err
	}
	return r.join(line, source, target, w, both)
}

// join adds an edge of a weight, in both directions if it goes both ways.
func (r *roster) join(line int64, source, target string, w float64, both bool) error {
	if err := r.settle(); err != nil {
		return err
	}
	var ends [2][]byte
	for i, id := range []string{source, target} {
		name, ok := r.names[id]
		if !ok {
			return r.fault(line, "list it as a node, before its edges", "the edge %s–%s has an end that is no node: %s", table.Quoted(source), table.Quoted(target), table.Quoted(id))
		}
		ends[i] = []byte(name)
	}
	if err := r.texts(ends[0], ends[1], w); err != nil || !both || source == target {
		return err
	}
	return r.texts(ends[1], ends[0], w)
}

// goesBothWays takes note of the direction of the next edge and reports whether it
// goes both ways.
func (r *roster) goesBothWays(line int64, directed bool) (bool, error) {
	switch {
	case r.Undirected:
		return false, nil
	case directed && r.loose:
		return false, r.fault(line, "pass {directed} to keep directions, or {undirected} to forget them", "an edge with a direction behind edges without")
	case directed:
		r.directed = true
		return false, nil
	}
	r.loose = r.loose || !r.directed
	return r.directed, nil
}

// direction returns what the edges told.
func (r *roster) direction() Direction {
	if r.directed {
		return Directed
	}
	return Undirected
}
