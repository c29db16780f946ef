// Package test holds the tests of agreement: two ways to one answer, on generated graphs with hubs, parallel entries,
// loops, signs and weights over twelve decades. For example, one process and several compute the same numbers, and the
// shares of an explanation add up to its score.
package test
