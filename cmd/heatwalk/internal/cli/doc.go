// Package cli is the heatwalk command. It has the subcommands about the program itself: help, methods,
// version, completion, serve.
//
// [Main] is the whole command as a function of its arguments and streams, so that a test runs it in its own
// process. The other subcommands are in a package for each family, one file each:
//
//   - graphs: ingest, info, convert, generate, verify
//   - learn: classify, evaluate, predict, explain, suggest, regress, rank, demo
//   - compute: kernel, features, apply, eigen, merge, bench
//   - items: the commands of kinds of items, for example graphs, records and gram
//
// A family may import package shell but no other family. To add a subcommand, write its file and list it in
// cli.go; its description is help/NAME.txt.
package cli
