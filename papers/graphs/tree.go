package graphs

import (
	"slices"
	"strings"
)

// tree returns the text of the tree with the given root, in brackets, smaller children first. It compares the texts of
// subtrees without storing them; stored texts would grow with the square of the depth.
func (p *patternFinder) tree(root int32) string {
	t := &rootedTree{p: p, vertex: []int32{root}, arc: []int32{-1},
		children: [][]int32{nil}}
	parent := []int32{-1}
	for index := 0; index < len(t.vertex); index++ {
		p.eachBridge(t.vertex[index], func(a, w int32) {
			if up := parent[index]; up < 0 || w != t.vertex[up] {
				t.children[index] = append(t.children[index], int32(len(t.vertex)))
				t.vertex = append(t.vertex, w)
				t.arc = append(t.arc, a)
				t.children = append(t.children, nil)
				parent = append(parent, int32(index))
			}
		})
	}
	for index := len(t.children) - 1; index >= 0; index-- {
		slices.SortFunc(t.children[index], t.compare)
	}
	var text strings.Builder
	reader := treeReader{t: t, next: []treePlace{{index: 0}}}
	for label := t.label(0); label != ""; label = reader.read() {
		text.WriteString(label)
	}
	return strings.TrimSuffix(text.String(), ")")
}

// rootedTree numbers the places of a tree from the root down.
type rootedTree struct {
	p           *patternFinder
	vertex, arc []int32 // vertex at each place, and the arc that leads to it, −1 at the root
	children    [][]int32
}

func (t *rootedTree) label(index int32) string {
	var text strings.Builder
	if a := t.arc[index]; a >= 0 {
		t.p.write(&text, true, numberOf(t.p.m.EdgeLabel, a))
	}
	t.p.write(&text, false, numberOf(t.p.m.Label, t.vertex[index]))
	return text.String()
}

// compare compares the texts of two subtrees whose children are sorted.
func (t *rootedTree) compare(a, b int32) int {
	x, y := treeReader{t: t, next: []treePlace{{index: a}}},
		treeReader{t: t, next: []treePlace{{index: b}}}
	for s, u := t.label(a), t.label(b); s != "" && u != ""; {
		n := min(len(s), len(u))
		if c := strings.Compare(s[:n], u[:n]); c != 0 {
			return c
		}
		s = s[n:]
		if s == "" {
			s = x.read()
		}
		u = u[n:]
		if u == "" {
			u = y.read()
		}
	}
	return 0
}

// treeReader reads the text of a subtree, without the labels of its root, part by part.
type treeReader struct {
	t    *rootedTree
	next []treePlace
}

type treePlace struct {
	index int32
	read  int
}

// read returns the next part, or "" at the end.
func (r *treeReader) read() string {
	if len(r.next) == 0 {
		return ""
	}
	last := &r.next[len(r.next)-1]
	children := r.t.children[last.index]
	if last.read == len(children) {
		r.next = r.next[:len(r.next)-1]
		return ")"
	}
	child := children[last.read]
	last.read++
	r.next = append(r.next, treePlace{index: child})
	return "(" + r.t.label(child)
}
