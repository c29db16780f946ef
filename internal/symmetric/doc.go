// Package symmetric solves dense symmetric eigenproblems of a few thousand rows:
// Gram matrices, projected maps, graphs too small to iterate on. It is the
// reduction to a tridiagonal matrix of LAPACK, by gonum, followed by the implicit
// QL method, whose rotations are collected and applied to strips of the vectors
// that stay in a core's cache. Applied one by one to whole columns, as gonum
// does, they take most of the time.
package symmetric
