package textio

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/heatwalk/heatwalk/file/input"
)

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

func TestEncodings(t *testing.T) {
	const text = "Zoë,Müller\nß,x\n"
	latin := strings.NewReplacer("ë", "\xeb", "ü", "\xfc", "ß", "\xdf").Replace(text)
	long := strings.Repeat("ä,🙂\n", 40_000)
	for _, c := range []struct {
		content, encoding, delimiter string
		want                         string // text, or the error
	}{
		{text, "", "", text},
		{text, "utf-8", "", text},
		{"\xef\xbb\xbf" + text, "latin-1", "", text},
		{latin, "latin-1", "", text},
		{latin, "windows-1252", "", text},
		{"\x80\x93\x94\n", "windows-1252", "", "€“”\n"},
		{text, "windows-1252", "", text}, // other files of the run need the setting
		{text, "utf-16le", "", text},
		{"\xff\xfe" + wide(text, false), "windows-1252", "", text},
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

		{latin, "", "", ":1: byte 0xeb is not UTF-8; pass the encoding of the file, as in option encoding=windows-1252, or convert it: iconv -f WINDOWS-1252 -t UTF-8 "},
		{latin, "utf-8", "", ":1: byte 0xeb is not UTF-8; pass"},
		{packed(latin), "", "", ":1: byte 0xeb is not UTF-8; pass"},
		{text + latin, "", "", ":3: byte 0xeb is not UTF-8, and text in front of it is; pass"},
		{"a\rb\rc\xc3", "", "", ":3: byte 0xc3 is not UTF-8; pass"},
		{"a\xc3\x00", "", "", ":1: byte 0xc3 is not UTF-8; pass"},
		{long + "\xff", "utf-8", "", ":40001: byte 0xff is not UTF-8, and text in front of it is; pass"},
		{"{\"a\": 1}\n{\"a\": \"\xe9\"}\n", "", "", ":2: byte 0xe9 is not UTF-8; pass"},
		{"a\x81b", "windows-1252", "", ":1: byte 0x81 is not windows-1252; pass"},
		{"a\xff\xfe" + wide("\nb", false), "windows-1252", "", ":2: NUL byte, not a text file; give text, plain or compressed"},
		{"\xff\xfe" + wide("ab\n", false) + "c", "", "", ":2: byte 0x63 is not UTF-16; pass"},
		{"\xff\xfea\x00\x00\xd8b\x00", "", "", ":1: byte 0x00 is not UTF-16; pass"},
		{"\xff\xfe\n\x00a\x00\x00\x00", "", "", ":2: NUL byte, not a text file; give text"},
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
