package ingest

import (
	"slices"
	"strings"
	"testing"
)

// Only the first line identifies a KONECT file; blanks and tabs may stand on one line.
func TestKONECT(t *testing.T) {
	const edges = "1 2 0.5 1082040961\n2 3 2 1082040962\n3 1 1 1082155839\n"
	want, _, err := ingestInto(t, fixed(Config{}), write(t, file{"e.tsv", "1 2 0.5\n2 3 2\n3 1 1\n"})...)
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range []string{"% sym weighted\n% 3 3 3\n", "% asym posweighted\r\n", "%  bip   dynamic\n"} {
		dir, report, err := ingestInto(t, fixed(Config{}), write(t, file{"out.e", head + edges})...)
		if err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		if report.Edges != 3 || !report.Weighted {
			t.Errorf("%q: %+v", head, report)
		}
		same(t, load(t, dir), load(t, want))
		warned := slices.ContainsFunc(report.Warnings, func(w string) bool { return strings.Contains(w, "two kinds of nodes") })
		if warned != strings.Contains(head, "bip") {
			t.Errorf("%q: warnings %q", head, report.Warnings)
		}
	}
	for _, text := range []string{
		"1 2\t0.5\t1082040961\n2 3\t2\t1082040962\n3 1\t1\t1082155839\n",
		"1 2\t0.5 \n2\t3 2\n3  1 1\t\n", "1 2 0.5\t\n2 3 2\t\n3 1 1\n",
	} {
		dir, _, err := ingestInto(t, fixed(Config{}), write(t, file{"out.e", "% sym posweighted\n" + text})...)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		same(t, load(t, dir), load(t, want))
	}
	for _, head := range []string{"", "% sym\n", "# sym weighted\n", "% sym heavy\n", "\n% sym weighted\n"} {
		if _, _, err := ingestInto(t, fixed(Config{}), write(t, file{"out.e", head + edges})...); err == nil || !strings.Contains(err.Error(), "option fields") {
			t.Errorf("%q: error %v", head, err)
		}
	}
}
