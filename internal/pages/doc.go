// Package pages asks the system for huge pages under large memory of the heap:
// what is read or filled in random order is then found sooner. Before large memory is
// made it frees what is not used any more.
package pages
