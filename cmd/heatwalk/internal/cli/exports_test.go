package cli

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

// transfer is a line of an export.
type transfer struct{ payer, payee, cents, index int }

// export is a table of transfers as a bank or a business program writes it.
type export struct {
	name    string
	head    string // lines above the transfers
	line    func(t transfer) string
	tail    string
	encode  func(text string) []byte
	id      func(account int) string // id in the table of labels
	titles  string                   // of the table of labels
	blank   bool                     // accounts without a label have a line
	stops   int                      // 0: read at once; 1: the printed command must read it
	weights bool                     // the amounts become weights
}

// amount writes cents with a character between thousands and a decimal character.
func amount(cents int, thousands, decimal string) string {
	digits := strconv.Itoa(cents / 100)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + thousands + digits[at:]
	}
	return digits + decimal + fmt.Sprintf("%02d", cents%100)
}

func german(cents int) string  { return amount(cents, ".", ",") }
func english(cents int) string { return amount(cents, ",", ".") }

func iban(account int) string { return fmt.Sprintf("DE%020d", 10_000_000+7919*account) }

func idsFrom(prefix string) func(account int) string {
	return func(account int) string { return prefix + strconv.Itoa(account) }
}

func plainBytes(text string) []byte { return []byte(text) }

func windows1252(text string) []byte {
	encoded, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		panic(err)
	}
	return []byte(encoded)
}

func utf16LE(text string) []byte {
	data := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		data = append(data, byte(unit), byte(unit>>8))
	}
	return data
}

// exports have the forms of exports of banks and of business programs in 2024, with other names.
var exports = []export{
	{name: "konto.csv", // titles in line 4, in the encoding of Windows
		head: "Kontoumsätze der Bank für Gemeinwirtschaft;\nZeitraum;01.01.2024 - 31.12.2024\n\nBuchungstag;Auftraggeber;Empfänger;Betrag;Währung\n",
		line: func(t transfer) string {
			return fmt.Sprintf("%02d.%02d.2024;%s;%s;%s;EUR\n", 1+t.index%28, 1+t.index%12, iban(t.payer), iban(t.payee), german(t.cents))
		},
		encode: windows1252, id: iban, titles: "IBAN;Label", blank: true, stops: 1, weights: true},
	{name: "transfers.csv", // columns of currencies share values
		head: "Time,Date,Sender_account,Receiver_account,Amount,Payment_currency,Received_currency,Payment_type\n",
		line: func(t transfer) string {
			currency := []string{"UK pounds", "Euro"}
			return fmt.Sprintf("10:%02d:19,2022-10-%02d,%d,%d,%.2f,%s,%s,Credit\n", t.index%60, 1+t.index%28, 8724731900+t.payer, 8724731900+t.payee, float64(t.cents)/100, currency[t.index%2], currency[t.index/2%2])
		},
		id: func(account int) string { return strconv.Itoa(8724731900 + account) }, titles: "account,label", blank: true, weights: true},
	{name: "einheit.csv", // one unit, months in words
		head: "payer;payee;amount;date\n",
		line: func(t transfer) string {
			return fmt.Sprintf("C%d;C%d;%s €;%d. %s 2024\n", t.payer, t.payee, german(t.cents), 1+t.index%28, []string{"Januar", "März", "Dezember"}[t.index%3])
		},
		id: idsFrom("C"), titles: "customer;class", blank: true, stops: 1, weights: true},
	{name: "currencies.csv", // two currencies
		head: "From Account,To Account,Amount,Booking Date\n",
		line: func(t transfer) string {
			return fmt.Sprintf("A%d,A%d,\"%s %s\",%02d-%s-2024\n", t.payer, t.payee, []string{"USD", "EUR"}[t.index%2], english(t.cents), 1+t.index%28, []string{"Jan", "Sep", "Dec"}[t.index%3])
		},
		id: idsFrom("A"), titles: "Account,Risk", blank: true, stops: 1},
	{name: "ledger.csv", // refunds in brackets, a total in the last line
		head: "Document,Debtor No,Creditor No,Posting date,Amount\n",
		line: func(t transfer) string {
			text := english(t.cents)
			if t.index%9 == 4 {
				text = "(" + text + ")"
			}
			return fmt.Sprintf("D%d,%d,%d,2024-03-%02d,\"%s\"\n", 1000+t.index, 100_000+t.payer, 100_000+t.payee, 1+t.index%28, text)
		},
		tail: "Total,,,,\"1,234,567.89\"\n",
		id:   func(account int) string { return strconv.Itoa(100_000 + account) }, titles: "Business Partner,Status", blank: true, stops: 1},
	{name: "umbruch.csv", // line breaks in quotes, a byte-order mark
		head: "\ufeff\"Payer\";\"Payee\";\"Amount\";\"Reference\"\n",
		line: func(t transfer) string {
			return fmt.Sprintf("\"C%d\";\"C%d\";\"%s\";\"Invoice %d\nthank you\"\n", t.payer, t.payee, german(t.cents), t.index)
		},
		id: idsFrom("C"), titles: "Kunde;Klasse", blank: true, stops: 1, weights: true},
	{name: "leer.csv", // columns of IBANs without a value
		head: "Datum;IBAN Auftraggeber;IBAN Empfänger;Kunde;Lieferant;Betrag\n",
		line: func(t transfer) string {
			return fmt.Sprintf("2024-05-%02d;;;K%d;K%d;%s\n", 1+t.index%28, t.payer, t.payee, german(t.cents))
		},
		id: idsFrom("K"), titles: "Kunde;Typ", stops: 1, weights: true},
	{name: "belege.txt", // bars around the fields, minus signs behind the amounts
		head: "|Belegnr|Zahler|Zahlungsempfänger|Betrag|Buchungsdatum|\n|---+---+---+---+---|\n",
		line: func(t transfer) string {
			sign := ""
			if t.index%10 == 3 {
				sign = "-"
			}
			return fmt.Sprintf("|%d|%s|%s|%s%s|%02d.06.2024|\n", 5000+t.index, iban(t.payer), iban(t.payee), german(t.cents), sign, 1+t.index%28)
		},
		id: iban, titles: "IBAN;Gruppe", blank: true, stops: 1},
	{name: "virements.txt", // UTF-16, no-break spaces between thousands
		head: "Émetteur\tBénéficiaire\tMontant\tDate\n",
		line: func(t transfer) string {
			return fmt.Sprintf("FR%d\tFR%d\t%s\t%d %s 2024\n", t.payer, t.payee, amount(t.cents, "\u202f", ","), 1+t.index%28, []string{"janvier", "août", "décembre"}[t.index%3])
		},
		encode: utf16LE, id: idsFrom("FR"), titles: "client;catégorie", blank: true, stops: 1, weights: true},
	{name: "soll.txt", // blanks in titles between semicolons
		head: "Konto Soll;Konto Haben;Betrag\n",
		line: func(t transfer) string {
			return fmt.Sprintf("K%d;K%d;%s\n", t.payer, t.payee, german(t.cents))
		},
		id: idsFrom("K"), titles: "Konto;Klasse", blank: true, stops: 1, weights: true},
	{name: "karten.csv", // two kinds of nodes, both counted from 1
		head: "Kartennummer;Haendler;Betrag EUR;Zeitpunkt\n",
		line: func(t transfer) string {
			return fmt.Sprintf("%d;%d;%s;2024-07-%02d 10:%02d:00\n", 1+t.payer, 1+t.payee, german(t.cents), 1+t.index%28, t.index%60)
		},
		id: func(account int) string { return strconv.Itoa(1 + account) }, titles: "Kartennummer;Betrug", blank: true, stops: 1, weights: true},
}

var pasted = regexp.MustCompile(`(?m); paste: (.*)$`)

// Each export is read, or the command in the first line of the refusal reads it. The predictions follow the two groups
// of accounts.
func TestExports(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the command for line breaks needs Python")
	}
	const (
		accounts  = 40
		transfers = 300
		labels    = 24
	)
	for _, e := range exports {
		t.Run(e.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			random := rand.New(rand.NewPCG(7, 1))
			text := e.head
			total := 0.0
			for i := 0; i < transfers; {
				f := transfer{random.IntN(accounts), random.IntN(accounts), 100 + random.IntN(500_000), i}
				if f.payer == f.payee || f.payer%2 != f.payee%2 && random.IntN(20) > 0 {
					continue
				}
				text += e.line(f)
				total += float64(f.cents) / 100
				i++
			}
			if e.encode == nil {
				e.encode = plainBytes
			}
			classes := e.titles + "\n"
			separator := string(regexp.MustCompile(`[;,]`).Find([]byte(e.titles)))
			for account := range accounts {
				class := ""
				if account < labels {
					class = []string{"honest", "fraud"}[account%2]
				}
				if class != "" || e.blank {
					classes += e.id(account) + separator + class + "\n"
				}
			}
			for name, content := range map[string][]byte{e.name: e.encode(text + e.tail), "labels.csv": []byte(classes)} {
				if err := os.WriteFile(name, content, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"classify", e.name, "--labels", "labels.csv", "--method", "lp", "-o", "p.csv"}
			stops := 0
			for {
				var stderr bytes.Buffer
				code := Main(args, nil, &bytes.Buffer{}, &stderr)
				if code == shell.Done {
					break
				}
				command := pasted.FindStringSubmatch(stderr.String())
				if stops++; code != shell.WrongData || stops > e.stops || command == nil {
					t.Fatalf("stop %d, exit code %d: %s", stops, code, stderr.String())
				}
				if first, _, _ := strings.Cut(stderr.String(), "; paste: "); len(first) > 200 {
					t.Errorf("the problem has %d bytes: %s", len(first), first)
				}
				args = runPasted(t, command[1])
			}
			if stops != e.stops {
				t.Errorf("%d stops, want %d", stops, e.stops)
			}
			wrong := 0
			rows := readRows(t, "p.csv")
			for account := labels; account < accounts; account++ {
				i := slices.IndexFunc(rows, func(row []string) bool { return strings.TrimPrefix(row[0], "Kartennummer:") == e.id(account) })
				if i < 0 || rows[i][1] != []string{"honest", "fraud"}[account%2] {
					wrong++
				}
			}
			if wrong > 1 {
				t.Errorf("%d of %d labels are wrong: %v", wrong, accounts-labels, rows)
			}
			// The weights are the amounts.
			convert := []string{"convert", args[1], "-o", "edges.csv"}
			for _, arg := range args {
				if strings.HasPrefix(arg, "--") && strings.Contains(arg, "=") && !strings.HasPrefix(arg, "--label-fields") || arg == "--bipartite" {
					convert = append(convert, arg)
				}
			}
			var stderr bytes.Buffer
			if code := Main(convert, nil, &bytes.Buffer{}, &stderr); code != shell.Done {
				t.Fatalf("%q: %s", convert, stderr.String())
			}
			sum := 0.0
			for _, row := range readRows(t, "edges.csv")[1:] {
				if len(row) > 2 {
					weight, err := strconv.ParseFloat(row[2], 64)
					if err != nil {
						t.Fatal(err)
					}
					sum += weight
				}
			}
			if e.weights && math.Abs(sum-total) > 1e-6*total || !e.weights && sum > 0 {
				t.Errorf("weights have the sum %v, amounts %v (%v)", sum, total, e.weights)
			}
		})
	}
}

// runPasted runs the commands of the shell in a command to paste, and returns the arguments of the command behind them.
func runPasted(t *testing.T, command string) []string {
	t.Helper()
	place := strings.LastIndex(command, " && ")
	if place >= 0 {
		if out, err := exec.Command("sh", "-c", command[:place]).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v, %s", command[:place], err, out)
		}
		command = command[place+len(" && "):]
	}
	words, err := exec.Command("sh", "-c", "heatwalk() { printf '%s\\0' \"$@\"; }; "+command).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
}

func readRows(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
