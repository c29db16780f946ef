package simd

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// linesOf returns the codes and the end of each line, up to the first line of another form.
func linesOf(text []byte, l NumberLines) (code []uint32, ends []int) {
	short := func(b []byte) (uint64, bool) {
		v, err := strconv.ParseUint(string(b), 10, 64)
		return v, err == nil && len(b) <= 8 && strconv.FormatUint(v, 10) == string(b)
	}
	for at := 0; ; {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return code, ends
		}
		first, second, _ := bytes.Cut(text[at:at+end], []byte{l.Sep})
		u, uOK := short(first)
		v, vOK := short(second)
		u, v = u-l.Base, v-l.Base
		if !uOK || !vOK || u >= l.Limit || v >= l.Limit || int64(u-v) < l.Least {
			return code, ends
		}
		code = append(code, uint32(u), uint32(v))
		at += end + 1
		ends = append(ends, at)
	}
}

// In a well-formed text Numbers must read everything but the end.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 0))
	odd := []string{"", "x", " ", "\r", "-1", "007", "0", "00", "123456789", "1234567890123456789012345678901234567890", "1.5", "#", "\n", "\t", "/", ":", "\x00", "\xff"}
	kept := 0
	eachVariant(t, func(t *testing.T) {
		for range 3000 {
			l := NumberLines{Sep: " \t,"[rng.IntN(3)], Limit: 1 << 32, Least: math.MinInt32}
			if rng.IntN(2) == 0 {
				l.Base, l.Limit = uint64(rng.IntN(3)), uint64(1)<<rng.IntN(28)
			}
			if rng.IntN(2) == 0 {
				l.Least = int64(rng.IntN(2))
			}
			var text []byte
			most := min(l.Limit, 1e8-l.Base)
			good := rng.IntN(2) == 0
			for range rng.IntN(60) {
				u, v := l.Base+rng.Uint64N(most)>>rng.IntN(27), l.Base+rng.Uint64N(most)>>rng.IntN(27)
				u, v = max(u, l.Base), max(v, l.Base)
				if l.Least > math.MinInt32 && u < v+uint64(l.Least) {
					u, v = max(u, v), min(u, v)
				}
				if !good && rng.IntN(60) == 0 { // just outside
					u = []uint64{l.Base + l.Limit, max(l.Base, 1) - 1, v + uint64(max(l.Least, 0)) - 1}[rng.IntN(3)]
				}
				if !good && rng.IntN(60) == 0 {
					v = l.Base + l.Limit
				}
				text = fmt.Appendf(text, "%d%c%d\n", u, l.Sep, v)
			}
			if at := rng.IntN(len(text) + 1); !good && rng.IntN(2) == 0 {
				text = slices.Insert(text, at, []byte(odd[rng.IntN(len(odd))])...)
			}
			want, ends := linesOf(text, l)
			good = good && len(ends) > 0 && ends[len(ends)-1] == len(text)
			room := rng.IntN(130)
			code, check := guarded[uint32](t, room, guard)
			read, n := Numbers(code, text, l)
			if n > len(want) || n%2 != 0 || !slices.Equal(code[:n], want[:n]) || n == 0 && read != 0 || n > 0 && read != ends[n/2-1] {
				t.Fatalf("%+v, %q: %d bytes and codes %v, want of %v, lines that end at %v", l, text, read, code[:n], want, ends)
			}
			if good && hasNumbers() && len(text)-read >= 64 && room-n >= 8 {
				t.Fatalf("%+v, %q: only %d bytes are read", l, text, read)
			}
			kept += n
			check()
		}
	})
	if hasNumbers() && kept == 0 {
		t.Error("nothing was read")
	}
}
