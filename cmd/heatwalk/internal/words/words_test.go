package words

import (
	"testing"
	"time"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"},
		{Count(1073741824), "1,073,741,824"}, {Count(-1234), "-1,234"},
		{Counted(1, "edge"), "1 edge"}, {Counted(1204, "edge"), "1,204 edges"}, {Counted(2, "class"), "2 classes"}, {Counted(0, "entry"), "0 entries"},
		{Bytes(0), "0 B"}, {Bytes(999), "999 B"}, {Bytes(1000), "1.00 KB"},
		{Bytes(17900000), "17.9 MB"}, {Bytes(612345678), "612 MB"}, {Bytes(999600), "1.00 MB"},
		{Bytes(999499), "999 KB"}, {Bytes(24 << 30), "25.8 GB"}, {Rate(1.23e9), "1.23 G"},
		{Seconds(20 * time.Millisecond), "0.02 s"}, {Seconds(24100 * time.Millisecond), "24.1 s"},
		{Seconds(999 * time.Millisecond), "1.0 s"}, {Seconds(112 * time.Second), "1 min 52 s"},
		{Seconds(7500 * time.Second), "2 h 5 min"}, {Percent(0.7412), "74.1 %"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
