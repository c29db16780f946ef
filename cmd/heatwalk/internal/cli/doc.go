// Package cli is the heatwalk command: it lists the subcommands, and has the subcommands about the program itself:
// help, methods, version, completion.
//
// [Main] is the whole command as a function of its arguments and streams, so that a test runs
// it in its own process. The other subcommands are in a package for each family, one file each:
//
//   - graphs: ingest, info, convert, generate, verify
//   - learn: classify, evaluate, predict, explain, suggest, regress, rank, demo
//   - compute: kernel, features, apply, eigen, merge, bench
//   - items: the commands of kinds of items, for example graphs, records and gram
//
// They import package shell, which they share, and never another family. To add a subcommand, write its file and
// list it in cli.go; its description is help/NAME.txt.
//
// The tests here run commands as users do: scripts in testdata/script, and tests that compare commands.
package cli
