package lines

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

// slowScan is Template.Scan without weights.
func slowScan(t Template, text string) (at int, code []uint32) {
	line := regexp.MustCompile(`^(0|[1-9][0-9]{0,9})` + regexp.QuoteMeta(string(t.Sep)) + `(0|[1-9][0-9]{0,9})\r?\n`)
	for {
		m := line.FindStringSubmatch(text[at:])
		if m == nil {
			return at, code
		}
		u, _ := strconv.ParseUint(m[1], 10, 64)
		v, _ := strconv.ParseUint(m[2], 10, 64)
		if min(u, v) < t.Base || max(u, v)-t.Base >= t.Limit || t.Lower && u < v || t.Strict && u == v {
			return at, code
		}
		at += len(m[0])
		code = append(code, uint32(u-t.Base), uint32(v-t.Base))
	}
}

func TestScan(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	r := rand.New(rand.NewPCG(6, 28))
	templates := []Template{
		{Sep: table.Tab, Limit: 1 << 32},
		{Sep: table.Blanks, Limit: 1 << 32},
		{Sep: table.Blanks, Base: 1, Limit: 90_000_000},
		{Sep: table.Blanks, Base: 1, Limit: 5000, Lower: true},
		{Sep: table.Blanks, Base: 1, Limit: 1 << 31, Lower: true, Strict: true},
	}
	digits := func(most int) string {
		s := strconv.FormatUint(1+r.Uint64N(9), 10)
		for range r.IntN(most) {
			s += strconv.Itoa(r.IntN(10))
		}
		return s
	}
	for trial := range 3000 {
		layout := templates[trial%len(templates)]
		most := 1 + r.IntN(11)
		lines, odds := 9, 60
		if trial%3 == 0 {
			lines, odds = 200, 900
		}
		var text strings.Builder
		for range r.IntN(lines) {
			u, v, end := digits(most), digits(most), "\n"
			if layout.Lower && (len(u) < len(v) || len(u) == len(v) && u < v) {
				u, v = v, u
			}
			switch r.IntN(odds) {
			case 0:
				end = "\r\n"
			case 1:
				u = "0"
			case 2:
				v = "0" + v
			case 3:
				u, v = v, u
			case 4:
				v += string([]byte{byte(r.IntN(256))})
			case 5:
				u = ""
			case 6:
				v = u
			case 7:
				end = " \n"
			case 8:
				v = ""
			case 9:
				u = "0" + u
			}
			text.WriteString(u + string(layout.Sep) + v + end)
		}
		want := text.String()
		if !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		for from := 0; from < len(want); {
			wantAt, wantCode := slowScan(layout, want[from:])
			wantAt += from
			b := append([]byte(want), make([]byte, textio.Slack)...)[:len(want)]
			before := make([]uint32, 2, 2+r.IntN(3*lines))
			at, code, _ := layout.Scan(b, from, before, nil)
			if at != wantAt || !slices.Equal(code[2:], wantCode) {
				t.Fatalf("%+v: %q from %d: at %d with %d, want %d with %d", layout, want, from, at, code[2:], wantAt, wantCode)
			}
			if at == len(want) {
				break
			}
			from = at + bytes.IndexByte(b[at:], '\n') + 1
		}
	}
}

// Each limit is exceeded alone, by 1, among valid lines.
func TestScanStopsAtNumbersOutOfRange(t *testing.T) {
	for _, c := range []struct {
		template Template
		u, v     uint32
		right    bool
	}{
		{Template{Base: 1, Limit: 40}, 1, 40, true},
		{Template{Base: 1, Limit: 40}, 40, 1, true},
		{Template{Base: 1, Limit: 40}, 0, 7, false},
		{Template{Base: 1, Limit: 40}, 7, 0, false},
		{Template{Base: 1, Limit: 40}, 41, 7, false},
		{Template{Base: 1, Limit: 40}, 7, 41, false},
		{Template{Limit: 40}, 0, 39, true},
		{Template{Limit: 40}, 40, 0, false},
		{Template{Base: 1, Limit: 1 << 32}, 1, 1 << 31, true},
		{Template{Base: 1, Limit: 40, Lower: true}, 7, 7, true},
		{Template{Base: 1, Limit: 40, Lower: true}, 7, 8, false},
		{Template{Base: 1, Limit: 40, Lower: true, Strict: true}, 8, 7, true},
		{Template{Base: 1, Limit: 40, Lower: true, Strict: true}, 7, 7, false},
	} {
		for before := range 3 {
			lines := []uint32{2, 1, 3, 2, 4, 3, 5, 4}
			lines[2*before], lines[2*before+1] = c.u, c.v
			want, base := slices.Clone(lines), uint32(c.template.Base)
			for i := range want {
				want[i] -= base
			}
			n := len(lines)
			if !c.right {
				n = 2 * before
			}
			var text []byte
			for i := 0; i < len(lines); i += 2 {
				text = fmt.Appendf(text, "%d\t%d\n", lines[i], lines[i+1])
			}
			c.template.Sep = '\t'
			_, got, _ := c.template.Scan(append(text, make([]byte, textio.Slack)...)[:len(text)], 0, nil, nil)
			if !slices.Equal(got, want[:n]) {
				t.Errorf("%+v, line %d %d: codes %d, want %d of %d", c.template, c.u, c.v, got, n, want)
			}
		}
	}
}

func TestNumberAgreesWithStrconv(t *testing.T) {
	check := func(s string) {
		b := append([]byte(s), make([]byte, 32)...)
		digits := 0
		for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
			digits++
		}
		v, n := number(b)
		want, _ := strconv.ParseUint(s[:digits], 10, 64)
		if digits > 15 {
			if n != 17 {
				t.Errorf("%q: %d digits", s, n)
			}
			return
		}
		if int(n) != digits || v != want {
			t.Errorf("%q: %d of %d digits, want %d of %d", s, v, n, want, digits)
		}
	}
	for length := range 19 {
		for _, digit := range []string{"0", "1", "9"} {
			for _, next := range []string{"", "\t", " ", "/", ":", "\n", "\x00", "\xff", "\x80", "\xb0", "\xba", "z1"} {
				check(strings.Repeat(digit, length) + next)
				check("12345678901234567"[:min(17, length)] + next)
			}
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"", "1", "12345678", "1234567890123456", "0.1", "1.5 ", "3.25\t", "123456789.123456", "1e5", "-0", "nan", "+.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := append([]byte(s), "\n"+strings.Repeat("\x00", 32)...)
		if v, n := decimal(b); n > 0 {
			want, err := strconv.ParseFloat(s[:min(n, len(s))], 64)
			if err != nil || v != want {
				t.Errorf("%q: %v, want %v", s, v, want)
			}
		}
		v, fault := table.ParseWeight([]byte(s), false)
		want, err := strconv.ParseFloat(s, 64)
		if fault == "" && (err != nil || v != want || v < 0) {
			t.Errorf("%q: %v, want %v, %v", s, v, want, err)
		}
	})
}
