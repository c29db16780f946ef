package ingest

import "testing"

func TestBlankBehindTheFirstLine(t *testing.T) {
	want, _ := read(t, nil, file{"e.txt", "1 2\n2 3\n"})
	for _, text := range []string{"1 2\t\n2 3\n", "1 2 \t\r\n2 3\t\r\n"} {
		got, _ := read(t, nil, file{"e.txt", text})
		same(t, got, want)
	}
}
