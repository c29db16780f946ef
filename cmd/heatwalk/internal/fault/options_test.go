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
		"alike but for Part.Share":                                 "alike but for --slab",
		"cwk: prior is one for all methods; give it in Settings":   "cwk: prior is one for all methods; give it as a flag",
		"tablefile.Convert reads features":                         "heatwalk convert reads features",
		"leave a store alone while it is read, and open it again":  "leave a store alone while it is read, and run the command again",
		"pass T = float64":                                         "pass --dtype float64",
		"allow it with " + textio.WindowFlag + "=2GiB":             "allow it with --max-window=2GiB",
		"a file named ConfigXFields, Shared":                       "a file named ConfigXFields, Shared",
		"keep it with Config.KeepLoops":                            "keep it with --self-loops=keep",
		"Share/Config.Memory: no such file":                        "Share/Config.Memory: no such file",
		"Share.tsv: make both alike but for Part.Share":            "Share.tsv: make both alike but for --slab",
		`"a\"Config.Memory" is no id; pass Config.UnknownIDs=skip`: `"a\"Config.Memory" is no id; pass --unknown-ids=skip`,
	} {
		if got := WithFlags(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
