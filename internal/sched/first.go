package sched

import (
	"cmp"
	"slices"
)

// KeepFirst inserts an item into a sorted list, after equal items, and returns the first limit items of the result. If
// limit is not positive, it returns list. Cost: O(1) for an item that is not among the first, otherwise O(limit).
func KeepFirst[T any](list []T, item T, limit int, compare func(a, b T) int) []T {
	if limit <= 0 || len(list) == limit && compare(list[limit-1], item) <= 0 {
		return list
	}
	index, _ := slices.BinarySearchFunc(list, item, func(a, b T) int {
		if compare(a, b) <= 0 {
			return -1
		}
		return 1
	})
	list = slices.Insert(list, index, item)
	return list[:min(len(list), limit)]
}

// Mark returns a list of length n that is true at the indices in list.
func Mark(n int, list []int) []bool {
	isIn := make([]bool, n)
	for _, i := range list {
		isIn[i] = true
	}
	return isIn
}

// Order returns the numbers 0 … n−1 sorted by compare. Equal numbers keep their order.
func Order(n int, compare func(a, b int) int) []int {
	order := UpTo(n)
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(compare(a, b), a-b) })
	return order
}

// Ascending returns the indices of the values, ordered by increasing value.
func Ascending[T cmp.Ordered](values []T) []int {
	return Order(len(values), func(a, b int) int { return cmp.Compare(values[a], values[b]) })
}

// Descending returns the indices of the values, ordered by decreasing value.
func Descending[T cmp.Ordered](values []T) []int {
	return Order(len(values), func(a, b int) int { return cmp.Compare(values[b], values[a]) })
}
