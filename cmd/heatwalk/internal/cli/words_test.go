package cli

import (
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/internal/words"
)

// TestWords tests package words, which this program links anyhow.
func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{words.Count(0), "0"}, {words.Count(999), "999"}, {words.Count(1000), "1,000"},
		{words.Count(1073741824), "1,073,741,824"}, {words.Count(-1234), "-1,234"},
		{words.Counted(1, "edge"), "1 edge"}, {words.Counted(1204, "edge"), "1,204 edges"}, {words.Counted(2, "class"), "2 classes"}, {words.Counted(0, "entry"), "0 entries"},
		{words.Bytes(0), "0 B"}, {words.Bytes(999), "999 B"}, {words.Bytes(1000), "1.00 KB"},
		{words.Bytes(17900000), "17.9 MB"}, {words.Bytes(612345678), "612 MB"}, {words.Bytes(999600), "1.00 MB"},
		{words.Bytes(999499), "999 KB"}, {words.Bytes(24 << 30), "25.8 GB"},
		{words.Seconds(20 * time.Millisecond), "0.02 s"}, {words.Seconds(24100 * time.Millisecond), "24.1 s"},
		{words.Seconds(999 * time.Millisecond), "1.0 s"}, {words.Seconds(112 * time.Second), "1 min 52 s"},
		{words.Seconds(7500 * time.Second), "2 h 5 min"}, {words.Percent(0.7412), "74.1 %"},
		{words.Round(2187.3), "2,190"}, {words.Round(999.7), "1,000"}, {words.Round(2.187), "2.19"}, {words.Round(3e20), "3e+20"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	names := []string{"alpha", "beta", "kernel", "labels", "max-memory", "learner"}
	for word, want := range map[string]string{
		"kernl": "kernel", "lable": "labels", "label": "labels", "max-mem": "max-memory", "Alpha": "alpha",
		"lerner": "learner", "zzzz": "", "": "", "ekrnel": "kernel",
	} {
		if got := words.Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
