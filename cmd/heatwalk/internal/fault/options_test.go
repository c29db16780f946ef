package fault

import (
	"testing"

	"github.com/heatwalk/heatwalk/internal/textio"
)

func TestWithFlags(t *testing.T) {
	for text, want := range map[string]string{
		"fix the line or pass Config.SkipBadLines":                 "fix the line or pass --skip-bad-lines",
		"pass Config.Fields=1,2 (or Config.Fields=a,b)":            "pass --fields=1,2 (or --fields=a,b)",
		"pass Config.UnknownIDs=skip":                              "pass --unknown-ids=skip",
		"with ingest.Config.Nodes, or LabelConfig.SkipUnknown":     "with --nodes, or --unknown-ids=skip",
		"correct LabelConfig.Fields":                               "correct --label-fields",
		"alike but for Part.Slab":                                  "alike but for --slab",
		"pass T = float64":                                         "pass --dtype float64",
		"allow it with " + textio.WindowFlag + "=2GiB":             "allow it with --max-window=2GiB",
		"a file named ConfigXFields, Shared":                       "a file named ConfigXFields, Shared",
		"keep it with Config.KeepLoops":                            "keep it with --self-loops=keep",
		"Share/Config.Memory: no such file":                        "Share/Config.Memory: no such file",
		"Share.tsv: make both alike but for Part.Slab":             "Share.tsv: make both alike but for --slab",
		`"a\"Config.Memory" is no id; pass Config.UnknownIDs=skip`: `"a\"Config.Memory" is no id; pass --unknown-ids=skip`,
	} {
		if got := WithFlags(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
