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

// HasPlainLook reports whether a text consists of visible ASCII characters, perhaps with blanks between them. [Look]
// returns such a text unchanged.
func HasPlainLook[S []byte | string](text S) bool {
	for i := range len(text) {
		isInside := text[i] == ' ' && i > 0 && i+1 < len(text)
		if text[i] <= ' ' && !isInside || text[i] > '~' {
			return false
		}
	}
	return true
}

// Look returns a text as a reader sees it: with composed letters (NFC), with blanks for white space, without blanks
// at its ends, and without characters of no width, such as a byte-order mark. Different ids with the same look are
// seldom intended.
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

// FindAlike counts the texts that differ from their look and have the same look as another text, and returns the
// first such pair. has reports whether a text occurs. The texts must be different. Texts with a plain look may be
// left out.
func FindAlike(texts iter.Seq[string], has func(text string) bool) (pair [2]string, count int) {
	const most = 1 << 16
	first := map[string]string{} // texts by look, if no text equals its look
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

// AlikeWarning returns the warning about texts of a file that look alike, see [FindAlike], or nil if there are none.
// noun names the texts.
func AlikeWarning(file, noun string, texts iter.Seq[string], has func(text string) bool) error {
	pair, count := FindAlike(texts, has)
	if count == 0 {
		return nil
	}
	return &input.Error{File: file, Fix: "write them in one way if they are one " + noun,
		Msg: fmt.Sprintf("%+q and %+q look alike and are different %s (%s)", pair[0], pair[1], words.Plural(noun), words.Counted(count, "such pair"))}
}
