package textio

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/heatwalk/heatwalk/internal/input"
)

// wide encodes text as UTF-16.
func wide(text string, bigEndian bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		low, high := byte(u), byte(u>>8)
		if bigEndian {
			low, high = high, low
		}
		b.WriteByte(low)
		b.WriteByte(high)
	}
	return b.String()
}

// TestEncodings reads text in every encoding as UTF-8, and checks the position in the error
// about an invalid byte.
func TestEncodings(t *testing.T) {
	const text = "Zoë,Müller\nß,x\n"
	latin := strings.NewReplacer("ë", "\xeb", "ü", "\xfc", "ß", "\xdf").Replace(text)
	long := strings.Repeat("ä,🙂\n", 40_000)
	for _, c := range []struct {
		content, encoding, delimiter string
		want                         string // the text, or the error
	}{
		{text, "", "", text},
		{text, "utf-8", "", text},
		{"\xef\xbb\xbf" + text, "latin-1", "", text},
		{latin, "", "", latin},
		{latin, "latin-1", "", text},
		{latin, "windows-1252", "", text},
		{"\x80\x93\x94\n", "windows-1252", "", "€“”\n"},
		{packed(latin), "latin-1", "", text},
		{"\xff\xfe" + wide(text, false), "", "", text},
		{"\xfe\xff" + wide(text, true), "", "", text},
		{"\xfe\xff" + wide(text, true), "utf-16", "", text},
		{wide(text, false), "utf-16", "", text},
		{wide(text, true), "utf-16be", "", text},
		{"\xff\xfe" + wide(long, false), "", "", long},
		{long, "utf-8", "", long},
		{"a§b\n§\n", "", "§", "a\x1fb\n\x1f\n"},
		{"a\xa7b\n", "latin-1", "§", "a\x1fb\n"},
		{strings.Repeat("ä§ö\n", 30_000), "", "§", strings.Repeat("ä\x1fö\n", 30_000)},

		{latin, "utf-8", "", "@2: byte 0xeb is not utf-8; give the encoding of this file with option encoding, or convert it to UTF-8, for example with iconv"},
		{"a\xc3", "utf-8", "", "@1: byte 0xc3 is not utf-8; give"},
		{long + "\xff", "utf-8", "", "@320000: byte 0xff is not utf-8; give"},
		{"a\x81b", "windows-1252", "", "@1: byte 0x81 is not windows-1252; give"},
		{"\xff\xfe" + wide("ab", false) + "c", "", "", "@6: byte 0x63 is not UTF-16; give"},
		{"\xff\xfea\x00\x00\xd8b\x00", "", "", "@4: byte 0x00 is not UTF-16; give"},
		{wide("ab", false), "", "", ": UTF-16 text without a byte-order mark; pass option encoding=utf-16le"},
		{"a", "ebcdic", "", "option encoding: is none of utf-8, utf-16, utf-16le, utf-16be, latin-1, windows-1252"},
		{"a", "", "||", "option delimiter: is not one character other than a quote or a line break"},
	} {
		path := write(t, "text", c.content)
		got, err := lines(t, path, &Options{Text: input.Text{Encoding: c.encoding, Delimiter: c.delimiter}})
		if err != nil {
			if !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.20q as %q: %v, want %s", c.content, c.encoding, err, c.want)
			}
			continue
		}
		if want := strings.Split(strings.TrimSuffix(c.want, "\n"), "\n"); !slices.Equal(got, want) {
			t.Errorf("%.20q as %q: %.40q, want %.40q", c.content, c.encoding, got, want)
		}
	}
}
