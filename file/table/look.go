package table

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// HasPlainLook reports whether a text looks as it is written: all characters are of ASCII and visible, or blanks between such.
func HasPlainLook[S []byte | string](text S) bool {
	for i := range len(text) {
		isInside := text[i] == ' ' && i > 0 && i+1 < len(text)
		if text[i] <= ' ' && !isInside || text[i] > '~' {
			return false
		}
	}
	return true
}

// Look returns a text as it looks: in composed letters (NFC), with blanks in place of white space and none at the ends, and without
// characters of no width, such as a byte order mark. Ids with the same look are different nodes, which is seldom meant.
func Look(text string) string {
	if HasPlainLook(text) || !utf8.ValidString(text) {
		return text
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		}
		return r
	}, norm.NFC.String(text)))
}

// FindAlike returns the number of texts that are not written as they look and look like another one, and the first such pair. has
// reports whether a text occurs. The texts must be different; those with a plain look may be left out.
func FindAlike(texts iter.Seq[string], has func(text string) bool) (pair [2]string, count int) {
	const most = 1 << 16         // texts that are kept
	first := map[string]string{} // texts by their look, if no text is written as it looks
	for text := range texts {
		look := Look(text)
		if look == text {
			continue
		}
		other, isKnown := first[look]
		if has(look) {
			other = look
		} else if !isKnown {
			if len(first) < most {
				first[look] = text
			}
			continue
		}
		if count++; count == 1 {
			pair = [2]string{other, text}
		}
	}
	return pair, count
}

// AlikeWarning returns the warning about texts of a file that look alike, see [FindAlike], nil if there are none. noun says what
// they are.
func AlikeWarning(file, noun string, texts iter.Seq[string], has func(text string) bool) error {
	pair, count := FindAlike(texts, has)
	if count == 0 {
		return nil
	}
	return &input.Error{File: file, Fix: "write them in one way if they are one " + noun,
		Msg: fmt.Sprintf("%+q and %+q look alike and are different %s (%s)", pair[0], pair[1], words.Plural(noun), words.Counted(count, "such pair"))}
}
