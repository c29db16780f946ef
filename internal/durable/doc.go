// Package durable is the only code of heatwalk that creates, syncs, renames, removes or locks files.
//
// A result file appears under its name whole or not at all. [NewFile] begins a temporary file in the same directory. [Commit]
// syncs this file, renames it and syncs the directory. Outputs of several files with guarantees of their own, such as a store,
// use the operations of [FS] themselves.
//
// [FS] is small so that tests can replace it. Package durabletest has a file system in memory that can crash, a file system
// whose i-th operation fails, and a file system that reads damaged bytes.
//
// A failed sync is final and is not repeated, because the system may have dropped the data and report success at the next
// attempt.
package durable
