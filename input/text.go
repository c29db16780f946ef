package input

// Text holds the settings of how a file of text is read. The zero value decides from the
// text. The same settings apply to edges, labels, ids and attributes.
type Text struct {
	// Delimiter is the character between two fields, for example "|"; "": a tab, a comma,
	// a semicolon or blanks, as the first line of data has them.
	Delimiter string

	// Decimal is the character in front of a number's fraction: "." (also "") or ",".
	Decimal string

	// Encoding is utf-8, utf-16, utf-16le, utf-16be, latin-1 or windows-1252. "": UTF-8,
	// or UTF-16 where a byte-order mark says so; bytes that are neither are kept as they are.
	Encoding string
}
