package cli

import (
	"regexp"
	"strings"
	"unicode"
)

// option finds an option that a library names in an error, as in Config.SkipBadLines.
var option = regexp.MustCompile(`\b(?:[a-z]+\.)?((?:Config|Options|WriteOptions|LabelConfig|FeatureConfig)\.[A-Z]\w*|Share)\b|\bT = float64\b`)

// optionFlags are the flags of options of other names.
var optionFlags = map[string]string{
	"Config.KeepLoops":          "--self-loops=keep",
	"Config.Memory":             "--max-memory",
	"Config.Window":             "--max-window",
	"FeatureConfig.SkipUnknown": "--unknown-ids=skip",
	"LabelConfig.Fields":        "--label-fields",
	"LabelConfig.SkipUnknown":   "--unknown-ids=skip",
	"Share":                     "--slab",
	"T = float64":               "--dtype float64",
}

// withFlags returns text with the flags of this command in place of the options of
// libraries: their names in small letters, a hyphen between words.
func withFlags(text string) string {
	return option.ReplaceAllStringFunc(text, func(found string) string {
		name := found
		if m := option.FindStringSubmatch(found); m[1] != "" {
			name = m[1]
		}
		if flag, ok := optionFlags[name]; ok {
			return flag
		}
		_, field, _ := strings.Cut(name, ".")
		var flag strings.Builder
		capital := true // was the letter before
		for _, r := range field {
			if unicode.IsUpper(r) && !capital {
				flag.WriteByte('-')
			}
			capital = unicode.IsUpper(r)
			flag.WriteRune(unicode.ToLower(r))
		}
		return "--" + flag.String()
	})
}
