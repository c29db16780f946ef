package table

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/input"
)

// The table of titles in docs/tables.md has the titles of titles.txt, and no others.
func TestTitlesOfPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	word := regexp.MustCompile("[a-z:_]+[12]?")
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "   | ") || strings.HasPrefix(line, "   | role") || strings.HasPrefix(line, "   |--") {
			continue
		}
		_, cells, _ := strings.Cut(strings.TrimPrefix(line, "   | "), " | ")
		cells, _, _ = strings.Cut(cells, "; else one word with 1 and 2") // examples follow
		for _, title := range word.FindAllString(strings.ToLower(cells), -1) {
			if title != "else" {
				listed[plainTitle(title)] = true
			}
		}
	}
	known := map[string]bool{}
	for title := range titleRoles() {
		known[plainTitle(title)] = true
		if !listed[plainTitle(title)] {
			t.Errorf("docs/tables.md does not list %q", title)
		}
	}
	for title := range listed {
		if !known[title] {
			t.Errorf("docs/tables.md lists %q, which is not in titles.txt", title)
		}
	}
	if len(listed) < 50 {
		t.Errorf("%d titles on the page", len(listed))
	}
}

// A pair of ends with other words in the titles comes before columns that share values.
func TestWordsOfEnds(t *testing.T) {
	for _, pair := range [][2]string{{"Sender_account", "Receiver_account"}, {"from_bank_id", "to_bank_id"}, {"PayerIBAN", "PayeeIBAN"}, {"callerNumber", "calleeNumber"}, {"origin airport", "destination airport"}, {"Debtor No", "Creditor No"}, {"Soll-Konto", "Haben-Konto"}, {"Von-Konto", "An-Konto"}, {"Debit account", "Credit account"}} {
		titles := []string{"Payment_currency", pair[0], "Received_currency", pair[1]}
		s := &Sample{Titles: titles, Separator: Comma}
		for _, row := range []string{"EUR,A1,USD,A2", "USD,A2,EUR,A3", "EUR,A3,EUR,A1"} {
			s.Rows = append(s.Rows, strings.Split(row, ","))
		}
		c, err := s.Choose(&Request{IsEdges: true, Option: "fields"})
		if err != nil || c.Column[input.Source] != 1 || c.Column[input.Target] != 3 {
			t.Errorf("%q: %v, %v", titles, c.Column, err)
		}
		if !slices.Equal(c.Columns[1].Values, []string{"A1", "A2", "A3"}) || c.Columns[1].Type != "text" {
			t.Errorf("%+v", c.Columns[1])
		}
	}
}
