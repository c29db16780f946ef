package cli

import (
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "4096": 4096, "4GiB": 4 << 30, "4 GiB": 4 << 30, "1.5MB": 1500000, "2kb": 2000, "3KiB": 3072,
		"7B": 7, "1TiB": 1 << 40, "0.5gb": 500000000, "64K": 64000, "3m": 3000000, "4G": 4000000000, "1.5 T": 1500000000000,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "0", "nan", "inf", "4Q", "4i", "4Gi", "G", "1e30GB", "0.1", "4GiB4"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{formatCount(0), "0"}, {formatCount(999), "999"}, {formatCount(1000), "1,000"},
		{formatCount(1073741824), "1,073,741,824"}, {formatCount(-1234), "-1,234"},
		{counted(1, "edge"), "1 edge"}, {counted(1204, "edge"), "1,204 edges"}, {counted(2, "class"), "2 classes"}, {counted(0, "entry"), "0 entries"},
		{formatBytes(0), "0 B"}, {formatBytes(999), "999 B"}, {formatBytes(1000), "1.00 KB"},
		{formatBytes(17900000), "17.9 MB"}, {formatBytes(612345678), "612 MB"}, {formatBytes(999600), "1.00 MB"},
		{formatBytes(999499), "999 KB"}, {formatBytes(24 << 30), "25.8 GB"}, {formatRate(1.23e9), "1.23 G"},
		{formatSeconds(20 * time.Millisecond), "0.02 s"}, {formatSeconds(24100 * time.Millisecond), "24.1 s"},
		{formatSeconds(999 * time.Millisecond), "1.0 s"}, {formatSeconds(112 * time.Second), "1 min 52 s"},
		{formatSeconds(7500 * time.Second), "2 h 5 min"}, {formatPercent(0.7412), "74.1 %"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	got := commandLine([]string{"classify", "my graph.tsv", "--labels", "it's.tsv", "", "a=b", "$HOME"})
	if want := `heatwalk classify 'my graph.tsv' --labels 'it'\''s.tsv' '' a=b '$HOME'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
