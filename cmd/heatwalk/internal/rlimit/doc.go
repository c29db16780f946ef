// Package rlimit ends a program with a sentence where the system allows it too little
// for the runtime, which would end it with a trace: next to no open files (what waits
// for files takes two of them, and dies without), or a small address space.
//
// It does so when it is initialized, for which it must not import anything that
// imports package os: what depends on less is initialized first. Of an address space of
// less than about 0.9 GB the runtime dies before that.
package rlimit
