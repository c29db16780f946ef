package graphfile

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
)

type repeated struct {
	head, piece string
	size, read  int64
}

func (r *repeated) Read(p []byte) (n int, err error) {
	if r.read == r.size {
		return 0, io.EOF
	}
	for n < len(p) && r.read < r.size {
		from := r.head
		at := r.read
		if at >= int64(len(r.head)) {
			from, at = r.piece, (at-int64(len(r.head)))%int64(len(r.piece))
		}
		m := copy(p[n:], from[at:min(int64(len(from)), at+r.size-r.read)])
		n += m
		r.read += int64(m)
	}
	return n, nil
}

// 100 MB in one word, string, tag or line must take little memory.
func TestLongUnits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const (
		xml     = "<graphml><key id=\"n\" for=\"node\" attr.name=\"name\"/><graph>\n"
		longTag = ": a tag, comment or text longer than 1 MiB; shorten it; is a quote or a bracket missing?"
	)
	type unit struct{ name, head, piece, want string }
	refused := []unit{
		{"e.graphml", xml + `<node id="`, "a", "e.graphml:2" + longTag},
		{"e.graphml", xml + `<node `, " ", "e.graphml:2" + longTag},
		{"e.graphml", xml + `<node id="&`, "a", "e.graphml:2" + longTag},
		{"e.graphml", xml, " ", "e.graphml:2" + longTag},
		{"e.graphml", xml + "<", "a", "e.graphml:2" + longTag},
		{"e.graphml", xml + "</", "a", "e.graphml:2" + longTag},
		{"e.graphml", xml + "<!--", "a", "e.graphml:2" + longTag},
		{"e.graphml", xml + "<?x ", "a", "e.graphml:2" + longTag},
		{"e.graphml", xml + `<node id="a"><data key="n"><![CDATA[`, "a", "e.graphml:2" + longTag},
		{"e.graphml", xml + `<node id="a"><data key="n">`, "abcdefgh<!-- -->", "e.graphml:2: a text longer than 1 MiB in an element node; shorten it"},
		{"e.graphml", xml, "<" + strings.Repeat("a", 10_000) + ">", "e.graphml:2" + longTag},
		{"e.graphml", "<!DOCTYPE ", "a", "e.graphml:1" + longTag},
		{"e.graphml", `<?xml version="1.0" encoding="`, "a", "e.graphml:1" + longTag},
	}
	check := func(u unit, size, most, memory int64) {
		t.Helper()
		in := &repeated{head: u.head, piece: strings.Repeat(u.piece, 1+4096/len(u.piece)), size: size}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(Recognize(u.name, []byte(u.head)), &Input{Name: u.name, Text: in}, func(*Batch) error { return nil })
		runtime.ReadMemStats(&after)
		var fault *nodefile.ParseError
		if got := errorText(err); got != u.want || err != nil && !errors.As(err, &fault) {
			t.Errorf("%s %.40q %q:\n got %s\nwant %s", u.name, u.head, u.piece, got, u.want)
		}
		if in.read > most {
			t.Errorf("%s %.40q %q: %d bytes were read", u.name, u.head, u.piece, in.read)
		}
		if taken := int64(after.TotalAlloc - before.TotalAlloc); taken > memory {
			t.Errorf("%s %.40q %q: took %d bytes", u.name, u.head, u.piece, taken)
		}
	}
	for _, u := range refused {
		check(u, 100e6, 5<<19, 16<<20)
	}
	check(unit{"e.graphml", xml + `<node `, `a="" `, "e.graphml:2" + longTag}, 100e6, 5<<19, 64<<20) // each is two strings
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
