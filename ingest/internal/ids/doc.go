// Package ids numbers the ids of nodes: it is the room of package ingest that knows
// which ids there are. Small integers are bits of a bitmap, whose [Ranks] are their
// numbers; all others are text in a [Dict], which several goroutines fill at once, and
// are numbered in order of first appearance or, if all are integers, by value.
package ids
