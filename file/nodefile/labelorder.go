package nodefile

import (
	"cmp"
	"slices"
)

// Sort puts the labels in the order of their nodes' ids and the classes in the order of their first
// nodes, because folds and learners follow both orders. Predictions therefore depend neither on the
// order of the lines of a file nor on the names of the classes. Of two classes with the same first
// node the next nodes decide, and of two with the same nodes the names. Every class needs a label.
func (l *Labels) Sort(nodes Lookup) {
	position := func(row int) int { return row }
	if ordered, ok := nodes.(interface{ Position(row int) int }); ok {
		position = ordered.Position
	}
	members := make([][]int, len(l.Names)) // increasing positions of each class
	for i, class := range l.Class {
		members[class] = append(members[class], position(l.Row[i]))
	}
	order := make([]int, len(l.Names))
	for class := range members {
		slices.Sort(members[class])
		order[class] = class
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(slices.Compare(members[a], members[b]),
			cmp.Compare(l.Names[a], l.Names[b]))
	})
	names := make([]string, len(order))
	number := make([]int, len(order))
	for index, class := range order {
		names[index] = l.Names[class]
		number[class] = index
	}
	type label struct{ row, class int }
	list := make([]label, len(l.Row))
	for i, class := range l.Class {
		list[i] = label{l.Row[i], number[class]}
	}
	slices.SortFunc(list, func(a, b label) int {
		return cmp.Or(cmp.Compare(position(a.row), position(b.row)),
			cmp.Compare(a.class, b.class))
	})
	for i, entry := range list {
		l.Row[i] = entry.row
		l.Class[i] = entry.class
	}
	l.Names = names
}

// ByName returns the names in byte order, and the place of each class there. Numbers of classes in a
// file follow this order, so that files of training and of test nodes agree.
func (l *Labels) ByName() (names []string, number []int) {
	names = slices.Sorted(slices.Values(l.Names))
	number = make([]int, len(l.Names))
	for class, name := range l.Names {
		number[class], _ = slices.BinarySearch(names, name)
	}
	return names, number
}
