// Package heldout tells from labels that a method was not told how often it is right at
// nodes without a label.
package heldout
