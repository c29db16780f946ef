// Package pages allocates large blocks of the heap on huge pages, which makes random access
// faster, and runs the garbage collector before an allocation that would exceed the memory limit.
package pages
