// Package openfiles ends a program that may open next to no files with a
// sentence, before the runtime ends it with a trace: what waits for files takes
// two of them, and dies without.
//
// It does so when it is initialized, for which it must not import anything that
// imports package os: what depends on less is initialized first.
package openfiles
