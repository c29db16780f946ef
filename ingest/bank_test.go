package ingest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/internal/words"
)

type payment struct {
	payer, payee string
	cents        int
	day          int
}

type parquetPayment struct {
	Payer  string  `parquet:"payer"`
	Payee  string  `parquet:"payee"`
	Amount float64 `parquet:"amount"`
}

// Pairs have several payments in both directions, and amounts of 0.
func payments(random *rand.Rand) (list []payment) {
	for range 60 {
		p := payment{fmt.Sprintf("DE%03d", random.IntN(12)), fmt.Sprintf("DE%03d", random.IntN(12)), random.IntN(3_000_000), 1 + random.IntN(28)}
		if random.IntN(10) == 0 {
			p.cents = 0
		}
		list = append(list, p)
	}
	return list
}

func groupThousands(digits, sep string) string {
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + sep + digits[at:]
	}
	return digits
}

// jsonPayments returns objects of JSON, on lines or in a list. Some have long notes, so that the first
// kilobytes have no whole object.
func jsonPayments(random *rand.Rand, text, sep string) (name, content string) {
	var objects []string
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	keys := strings.Split(lines[0], sep)
	isLong := random.IntN(2) == 0
	for _, line := range lines[1:] {
		var members []string
		for i, cell := range strings.Split(line, sep) {
			if !table.IsNumber(cell) || table.HasLeadingZero(cell) {
				cell = strconv.Quote(cell)
			}
			members = append(members, strconv.Quote(keys[i])+": "+cell)
		}
		if isLong {
			members = append(members, `"note": "`+strings.Repeat("text ", 1000)+`"`)
		}
		objects = append(objects, "{"+strings.Join(members, ", ")+"}")
	}
	if random.IntN(2) == 0 {
		return "payments.jsonl", strings.Join(objects, "\n")
	}
	return "payments.json", "[" + strings.Join(objects, []string{",", ",\n  "}[random.IntN(2)]) + "]\n"
}

func TestPaymentForms(t *testing.T) {
	random := rand.New(rand.NewPCG(78, 1))
	titles := [][]string{
		{"payer", "payee", "amount", "date"}, {"sender", "receiver", "value", "time"}, {"SENDER", "Receiver", "a mount", "datetime"},
		{"Payer", "payee", "Weight", "timestamp"}, {"Auftraggeber", "Empfänger", "Betrag", "Datum"},
	}
	dates := []string{"2024-01-%02d", "%02d.01.2024", "01/%02d/2024", "2024-01-%02d 10:15:00"}
	numbers := []struct {
		thousands, decimal string
		text               input.Text
	}{{"", ".", input.Text{}}, {"", ",", input.Text{Decimal: ","}}, {".", ",", input.Text{Thousands: "."}}, {",", ".", input.Text{Thousands: ","}}, {" ", ",", input.Text{Thousands: " ", Decimal: ","}}, {"\u00a0", ",", input.Text{Thousands: " ", Decimal: ","}}, {"'", ".", input.Text{Thousands: "'"}}}
	for trial := range 100 {
		list := payments(random)
		head := titles[trial%len(titles)]
		number := numbers[random.IntN(len(numbers))]
		sep := []string{";", "\t", "|"}[random.IntN(3)]
		hasIndex := random.IntN(3) == 0
		order := random.Perm(4)
		want := map[[2]string]float64{}
		zeros := 0
		var b strings.Builder
		write1 := func(cells []string, index string) {
			var out []string
			if hasIndex {
				out = append(out, index)
			}
			for _, k := range order {
				out = append(out, cells[k])
			}
			b.WriteString(strings.Join(out, sep) + "\n")
		}
		write1(head, "")
		for i, p := range list {
			amount := groupThousands(strconv.Itoa(p.cents/100), number.thousands) + number.decimal + fmt.Sprintf("%02d", p.cents%100)
			write1([]string{p.payer, p.payee, amount, fmt.Sprintf(dates[trial%len(dates)], p.day)}, strconv.Itoa(i))
			if p.cents == 0 {
				zeros++
			}
			if p.cents > 0 && p.payer != p.payee {
				want[[2]string{p.payer, p.payee}] += float64(p.cents) / 100
				want[[2]string{p.payee, p.payer}] += float64(p.cents) / 100
			}
		}
		text := number.text
		if sep == "|" {
			text.Delimiter = sep
		}
		name, content := "payments.csv", b.String()
		if trial%len(titles) == 0 && random.IntN(2) == 0 {
			var rows []parquetPayment
			for _, p := range list {
				rows = append(rows, parquetPayment{p.payer, p.payee, float64(p.cents) / 100})
			}
			name, content = "payments.parquet", tableFile(t, rows...)
		} else if !hasIndex && trial%3 == 0 {
			name, content = jsonPayments(random, content, sep)
		}
		c := &Config{Text: text}
		if head[0] == "Auftraggeber" { // the titles are not in the list of titles
			c.Fields = head[:3]
			c.Duplicates = SumDuplicates
		}
		g, report := read(t, c, file{name, content})
		if len(g.out) != len(want) {
			t.Fatalf("trial %d: %d entries, want %d\n%s", trial, len(g.out), len(want), b.String()[:300])
		}
		for pair, w := range want {
			if got := g.out[pair]; got < w*(1-1e-12) || got > w*(1+1e-12) {
				t.Fatalf("trial %d: %v has weight %v, want %v\n%s", trial, pair, got, w, b.String()[:300])
			}
		}
		isCounted := zeros == 0
		for _, warning := range report.Warnings {
			isCounted = isCounted || strings.Contains(warning, fmt.Sprintf(": %s with weight 0", words.Counted(zeros, "line")))
		}
		if !isCounted {
			t.Errorf("trial %d: %d lines of 0, warnings %q", trial, zeros, report.Warnings)
		}
	}
}
