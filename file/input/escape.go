package input

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text from a file, or the name of a file, safe to print on a terminal. It replaces control characters,
// invisible characters that change the direction of text, and bytes that are not UTF-8 by escape sequences of Go, for
// example \x1b. Escaping twice does no harm.
func Escape(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, isUnsafe) < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i])|0x100, 16)[1:])
		case isUnsafe(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// isUnsafe reports whether a terminal may act on a character: a control or format character or a line separator, for
// example ESC or U+202E.
func isUnsafe(r rune) bool {
	switch r {
	case '\t', '\n', '\u200c', '\u200d': // joiners shape words of Persian and Hindi, and emoji
		return false
	case '\u2028', '\u2029':
		return true
	}
	return unicode.Is(unicode.C, r)
}
