// Package symmetric solves dense symmetric eigenproblems of a few thousand rows:
// Gram matrices, projected maps, graphs too small to iterate on. Reflections make
// the matrix tridiagonal, a panel of columns at a time, half of it read once for
// each; divide and conquer finds the eigenpairs of that; and the vectors that are
// wanted are turned back in groups that stay in a core's cache. In gonum's routines
// one worker reads the matrix, and then the vectors, from memory again and again.
package symmetric
