package graphfile

import (
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/words"
)

// nodeNames holds the nodes of a format with several kinds of names, and chooses the first kind of distinct names
// that all nodes have.
type nodeNames struct {
	out     *batchWriter
	kinds   []string // titles of the kinds of names, the id last
	ignored []string // kinds that must not be chosen
	nodes   []namedNode
	byID    map[string]uint32 // numbers of nodes by the id that edges use
	listed  []uint32          // declared nodes, in the order of the file
	names   [][]byte          // names by node, once settled
	notes   []error
	bytes   int64
}

// namedNode is a declared node, or an id that an edge uses before its declaration.
type namedNode struct {
	line  int64    // line of the declaration, or of the first use
	names []string // names by kind, "" for none, the id last; nil: not declared
}

// networkXName is the attribute with the names of nodes in files of NetworkX graphs that igraph wrote. The ids in
// these files are numbers.
const networkXName = "_nx_name"

// graphToolName is graph-tool's attribute with the ids of GraphML.
const graphToolName = "_graphml_vertex_id"

func newNodeNames(s *batchWriter, kinds ...string) *nodeNames {
	return &nodeNames{out: s, kinds: kinds, byID: map[string]uint32{}}
}

func (r *nodeNames) number(id string, line int64) uint32 {
	n, exists := r.byID[id]
	if !exists {
		const node = 150 // bytes of map, headers and slices
		r.bytes += node + int64(len(id))
		n = uint32(len(r.nodes))
		r.byID[id] = n
		r.nodes = append(r.nodes, namedNode{line: line})
	}
	return n
}

// add declares a node with its names, one for each kind.
func (r *nodeNames) add(line int64, names ...string) error {
	id := names[len(names)-1]
	n := r.number(id, line)
	if r.nodes[n].names != nil {
		return r.out.fault(line, "give each node an id of its own",
			"node %s is there already", words.Quoted(id))
	}
	for i, name := range names[:len(names)-1] {
		names[i] = oneLine(name)
		r.bytes += int64(len(name))
	}
	r.nodes[n] = namedNode{line, names}
	r.listed = append(r.listed, n)
	return r.out.hold(r.bytes)
}

func oneLine(name string) string {
	if !strings.ContainsAny(name, "\r\n") {
		return name
	}
	lines := strings.FieldsFunc(name,
		func(c rune) bool { return c == '\r' || c == '\n' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

// usable reports whether all nodes have distinct names of a kind. It adds a note if only some do.
func (r *nodeNames) usable(kind int) bool {
	seen := make(map[string]bool, len(r.listed))
	var nameless string
	refuse := func(format string, args ...any) bool {
		r.notes = append(r.notes,
			r.out.fault(0, "nodes are called by their "+r.kinds[len(r.kinds)-1],
				format, args...))
		return false
	}
	for _, n := range r.listed {
		names := r.nodes[n].names
		name := names[kind]
		switch wrong := faultOfID([]byte(name)); {
		case wrong == emptyID:
			nameless = names[len(names)-1]
		case wrong != "":
			return refuse("the %s %s %s", r.kinds[kind],
				words.Quoted(name), wrong)
		case seen[name]:
			return refuse("several nodes have the %s %s", r.kinds[kind],
				words.Quoted(name))
		default:
			seen[name] = true
		}
	}
	if nameless != "" && len(seen) > 0 {
		return refuse("node %s has no %s", words.Quoted(nameless), r.kinds[kind])
	}
	return nameless == ""
}

// settle chooses the kind of names and passes on the nodes.
func (r *nodeNames) settle() error {
	id := len(r.kinds) - 1
	kind := id
	for k, title := range r.kinds[:id] {
		if kind == id && !slices.Contains(r.ignored, title) && len(r.listed) > 0 &&
			r.usable(k) {
			kind = k
		}
	}
	r.names = make([][]byte, len(r.nodes))
	for _, n := range r.listed {
		node := r.nodes[n]
		name := []byte(node.names[kind])
		if wrong := faultOfID(name); wrong != "" {
			return r.out.fault(node.line, "correct it", "the %s of node %s %s",
				r.kinds[kind], words.Quoted(node.names[id]), wrong)
		}
		r.names[n] = name
		if err := r.out.begin(false, true); err != nil {
			return err
		}
		r.out.batch.AddText(name)
	}
	return nil
}

func (r *nodeNames) checkDeclared() error {
	if len(r.listed) == len(r.nodes) {
		return nil
	}
	first := uint32(len(r.nodes))
	var id string
	for name, n := range r.byID {
		if r.nodes[n].names == nil && n < first {
			first = n
			id = name
		}
	}
	return r.out.fault(r.nodes[first].line, "list it as a node",
		"an edge has an end that is no node: %s", words.Quoted(id))
}
