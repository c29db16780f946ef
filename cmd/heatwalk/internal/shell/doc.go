// Package shell contains what the subcommands of heatwalk share.
//
//   - [Session] is one run. It contains [CommandLine], which collects the mistakes in flags to report them
//     together; [Console], the streams; and [Costs], the limits of memory and the plan. A function takes only
//     the part that it needs.
//   - [Inputs] and [GraphInputs] hold the flags for reading files. Their methods and functions of Session
//     open graphs, labels and lists of ids.
//   - [Outputs] are the files that a run publishes together, with the run file.
//
// [NewCommand] makes a subcommand. The options of a subcommand are a struct with the values of its flags. A
// constructor declares the flags, a check records mistakes in them, and a function runs the subcommand.
//
// A run must begin its outputs before it reads any input, because a full or read-only disk should be reported
// before hours of computation. It ends with a summary, or with one JSON document.
//
// Only the subcommands print. Data and the closing summary go to stdout; if stdout carries an output, the
// summary goes to stderr. Progress, warnings and errors go to stderr. [ErrorReports] returns the lines of an
// error in the form PLACE: PROBLEM; REMEDY, and [ExitCode] returns its exit code.
package shell
