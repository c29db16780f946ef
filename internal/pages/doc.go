// Package pages asks the system for huge pages under large memory of the heap:
// what is read or filled in random order is then found sooner.
package pages
