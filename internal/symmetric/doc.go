// Package symmetric solves dense symmetric eigenproblems of a few thousand rows:
// Gram matrices, projected maps, graphs too small to iterate on. Reflections make
// the matrix tridiagonal, a panel of columns at a time, and the implicit QL method
// diagonal. Its rotations are collected and applied to strips of the vectors that
// stay in a core's cache. In gonum's routines for both, one worker reads the
// matrix, and then the vectors, from memory again and again.
package symmetric
