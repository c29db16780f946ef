// Package durable is the only code of heatwalk that creates, syncs, renames,
// removes or locks files.
//
// A result file appears under its name whole or not at all: [NewFile] begins a temporary
// file in the same directory, and [Commit] syncs it, renames it and syncs the directory.
// Outputs of several files with guarantees of their own, such as a store, are built by
// their owner from the operations of [FS].
//
// [FS] is small so that tests can put their own in its place: package
// durabletest has one in memory that can crash, one whose i-th operation
// fails, and one that reads damaged bytes.
//
// A failed sync is final: the system may have dropped the data and call the
// next attempt a success, so nothing here tries twice.
package durable
