package fault

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
)

// option finds what a library names in an error and a user of the command gives otherwise,
// an option as in Config.SkipBadLines or a function, and
// before it what a user wrote and may look like one: paths and what stands in quotation marks.
var option = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[^\s"]*/[^\s"]*|` +
	`\b(?:[a-z]+\.)?((?:Config|Input|Options|WriteOptions|LabelConfig|FeatureConfig|Records)\.[A-Z]\w*)\b|\bPart\.Share\b|\bT = float64\b|\btablefile\.Convert\b|\bin Settings\b|\bopen it again\b`)

// optionFlags are the flags of options of other names, and what else the command calls
// otherwise.
var optionFlags = map[string]string{
	"Config.KeepLoops":          "--self-loops=keep",
	"Config.Memory":             "--max-memory",
	"Config.Window":             "--max-window",
	"FeatureConfig.SkipUnknown": "--unknown-ids=skip",
	"LabelConfig.Fields":        "--label-fields",
	"LabelConfig.SkipUnknown":   "--unknown-ids=skip",
	"Records.MissingUnknown":    "--unknown-values=missing",
	"T = float64":               "--dtype float64",
	"Part.Share":                "--slab",
	"in Settings":               "as a flag",
	"open it again":             "run the command again",
	"tablefile.Convert":         "heatwalk convert",
}

// WithFlags returns text with the flags and commands of heatwalk in place of the options
// and functions of libraries. A flag is the name of its option in small letters, a hyphen
// between words.
func WithFlags(text string) string {
	return option.ReplaceAllStringFunc(text, func(found string) string {
		name := option.FindStringSubmatch(found)[1]
		if flag, ok := optionFlags[cmp.Or(name, found)]; ok {
			return flag
		}
		if name == "" {
			return found
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
