// Package textio reads text from a file or standard input, plain or compressed, with any of the usual line ends.
//
// [Open] decides by the first bytes of the content, because names are often wrong. A goroutine decompresses gzip and
// zstd while the caller parses the text. Text is UTF-8, or UTF-16 with a byte-order mark, or has the encoding of the
// settings. Other compressions and binary files are errors with a remedy.
//
// [Reader.Chunks] passes chunks of whole lines to several goroutines, [Reader.Lines] single lines to one. Both report
// line numbers for error messages, and guarantee that
//
//   - every line ends in a line feed, including the last line of a file; a carriage return
//     without a line feed ends a line, a carriage return before a line feed is kept;
//   - the text is UTF-8 without a byte-order mark;
//   - a NUL byte, a line longer than [MaxLine], and a compressed stream that is truncated,
//     damaged or followed by other data are errors of type [*Error].
//
// Boundaries of chunks depend on the text alone.
package textio
