// Package durable is the only code of heatwalk that creates, syncs, renames, removes or locks files.
//
// A result file appears under its name whole or not at all: [NewFile] begins a temporary file in the same directory,
// and [Commit] syncs this file, renames it and syncs the directory. Outputs of several files with guarantees of their
// own, such as a store, use the operations of [FS] themselves.
//
// [FS] is small so that tests can replace it, see package durabletest.
//
// A failed sync is final and is not repeated, because the system may have dropped the data and report success at the
// next attempt.
package durable
