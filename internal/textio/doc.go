// Package textio reads text files as they are found in the world: a path or
// standard input, plain or compressed, in any of the usual line ends.
//
// [Open] looks at the first bytes, not at the name: gzip (any number of
// members) and zstd are decompressed by a goroutine of their own while the caller reads the
// text; UTF-16, other compressions and binary files are refused with the way
// out. [Reader.Chunks] delivers runs of whole lines to several goroutines at
// once, [Reader.Lines] single lines to one. Both know the number of every line,
// so that an error can name it, and both hold the same promises:
//
//   - every line ends in a line feed, also the last one of a file without; a
//     lone carriage return is a line end of its own, and one before a line feed
//     stays where it is;
//   - a byte-order mark of UTF-8 is skipped;
//   - a NUL byte, a line longer than [MaxLine], a compressed stream that ends
//     early, is damaged or has something behind it are errors of type [*Error].
//
// Cuts between chunks depend on the text alone, never on the number of
// workers or on how the bytes arrived.
package textio
