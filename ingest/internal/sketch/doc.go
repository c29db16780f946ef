// Package sketch says how many distinct ids there are of a stream of them, from hashes and
// in little memory.
package sketch
