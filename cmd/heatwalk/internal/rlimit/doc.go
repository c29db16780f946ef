// Package rlimit ends a program with one line where the limit on its address space
// (ulimit -v) is too small for the runtime, which would otherwise end it with a trace
// while it starts threads.
//
// It does so when it is initialized. It must not import anything that imports package
// os, so that it is initialized before what starts threads. With less than about 0.8 GB
// of address space every Go program dies before its first line.
package rlimit
