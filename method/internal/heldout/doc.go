// Package heldout estimates the accuracy of a method at nodes without a label, from labels
// that were hidden from it.
package heldout
