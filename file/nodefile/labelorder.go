package nodefile

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// Sort sorts the labels by the ids of their nodes (see [CompareIDs]), and the classes by their first nodes, then by
// their next nodes, and then by name. Folds, samples and learners follow these orders, so that predictions do not
// depend on the order of lines, on further nodes, or on the names of the classes. Every class must have a label.
func (l *Labels) Sort(nodes Lookup) {
	type label struct {
		id         string
		row, class int
	}
	list := make([]label, len(l.Row))
	for i, row := range l.Row {
		list[i] = label{nodes.ID(row), row, l.Class[i]}
	}
	slices.SortFunc(list, func(a, b label) int { return CompareIDs(a.id, b.id) })
	members := make([][]int, len(l.Names)) // sorted positions of the nodes of each class
	position := 0
	for i, entry := range list {
		if i > 0 && entry.row != list[i-1].row {
			position = i
		}
		members[entry.class] = append(members[entry.class], position)
	}
	order := sched.Order(len(l.Names), func(a, b int) int {
		return cmp.Or(slices.Compare(members[a], members[b]),
			cmp.Compare(l.Names[a], l.Names[b]))
	})
	names := make([]string, len(order))
	number := make([]int, len(order))
	for index, class := range order {
		names[index] = l.Names[class]
		number[class] = index
	}
	slices.SortFunc(list, func(a, b label) int {
		return cmp.Or(CompareIDs(a.id, b.id), cmp.Compare(number[a.class], number[b.class]))
	})
	for i, entry := range list {
		l.Row[i] = entry.row
		l.Class[i] = number[entry.class]
	}
	l.Names = names
}

// CompareIDs compares two ids by length and then by bytes, which orders numbers by value.
func CompareIDs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// OrderClasses returns the indices of names in the order of outputs: numbers by value, then other names by bytes.
func OrderClasses(names []string) []int {
	value := make([]float64, len(names)) // +∞ for text
	for class, name := range names {
		number, fault := table.ParseNumber([]byte(name), 64)
		if fault != "" {
			number = math.Inf(1)
		}
		value[class] = number
	}
	return sched.Order(len(names), func(a, b int) int {
		return cmp.Or(cmp.Compare(value[a], value[b]), cmp.Compare(names[a], names[b]))
	})
}

// ByName returns the names in the order of [OrderClasses], and for each class its index in this order. Files number
// classes by this index.
func (l *Labels) ByName() (names []string, number []int) {
	number = make([]int, len(l.Names))
	for place, class := range OrderClasses(l.Names) {
		names = append(names, l.Names[class])
		number[class] = place
	}
	return names, number
}
