package shell

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "4096": 4096, "4GiB": 4 << 30, "4 GiB": 4 << 30, "1.5MB": 1500000, "2kb": 2000, "3KiB": 3072,
		"7B": 7, "1TiB": 1 << 40, "0.5gb": 500000000, "64K": 64000, "3m": 3000000, "4G": 4000000000, "1.5 T": 1500000000000,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "0", "nan", "inf", "4Q", "4i", "4Gi", "G", "1e30GB", "0.1", "4GiB4"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func TestCommandLine(t *testing.T) {
	got := commandOf([]string{"classify", "my graph.tsv", "--labels", "it's.tsv", "", "a=b", "$HOME"})
	if want := `heatwalk classify 'my graph.tsv' --labels 'it'\''s.tsv' '' a=b '$HOME'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseFields(t *testing.T) {
	const example = "1,2,4"
	for text, want := range map[string][]string{"1,2": {"1", "2"}, "3, 1,7": {"3", "1", "7"}, "from,to": {"from", "to"}} {
		var got []string
		if err := ParseFields(&got, text, 2, 3, example); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "1,1", "1,2,3,4", "1,,2", "a,a"} {
		var got []string
		if err := ParseFields(&got, text, 2, 3, example); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
