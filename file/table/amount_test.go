package table

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/file/input"
)

func TestSplitAmount(t *testing.T) {
	for _, test := range []struct{ text, number, unit string }{
		{"12.50 USD", "12.50", "USD"}, {"EUR 10,00", "10,00", "EUR"}, {"1.234,56 €", "1.234,56", "€"}, {"€\u00a05", "5", "€"}, {"$12", "12", "$"},
		{"(5.00)", "-5.00", ""}, {"5.00-", "-5.00", ""}, {"($1,200.00)", "-1,200.00", "$"}, {"-5 €", "-5", "€"}, {"€ -5", "-5", "€"}, {"-€5", "-5", "€"}, {"+5 %", "5", "%"},
		{"\u22125,00 CHF", "-5,00", "CHF"}, {"3 ‰", "3", "‰"},
		{"5", "", ""}, {"-5", "", ""}, {"+.5", "", ""}, {"5 kg", "", ""}, {"A5", "", ""}, {"Fr. 12.50", "", ""}, {"EUR 5 €", "", ""}, {"(5", "", ""}, {"(-5)", "", ""}, {"--5", "", ""},
		{"5+", "", ""}, {"", "", ""}, {"€", "", ""}, {"()", "", ""}, {"747 JFK", "", ""}, {"usd 5", "", ""},
	} {
		number, unit, isAmount := SplitAmount([]byte(test.text))
		if string(number) != test.number || unit != test.unit || isAmount != (test.number != "") {
			t.Errorf("%q: %q %q %v, want %q %q", test.text, number, unit, isAmount, test.number, test.unit)
		}
	}
}

// A unit, brackets and signs do not change the size of a number in any form.
func TestAmountsOfForms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		form := rapid.SampledFrom([]struct {
			text   string
			number float64
			t      input.Text
		}{{"1234.5", 1234.5, input.Text{}}, {"1.234,5", 1234.5, input.Text{Thousands: ".", Decimal: ","}}, {"1,234.50", 1234.5, input.Text{Thousands: ","}}, {"7", 7, input.Text{}},
			{"1 234,5", 1234.5, input.Text{Thousands: " ", Decimal: ","}}, {"0,5", 0.5, input.Text{Decimal: ","}}}).Draw(rt, "form")
		unit := rapid.SampledFrom([]string{"", "€", "$", "USD", "%"}).Draw(rt, "unit")
		blank := rapid.SampledFrom([]string{"", " ", "\u00a0"}).Draw(rt, "blank")
		if unit == "" {
			blank = ""
		}
		text := form.text
		if rapid.Bool().Draw(rt, "before") {
			text = unit + blank + text
		} else {
			text += blank + unit
		}
		want := form.number
		switch rapid.IntRange(0, 3).Draw(rt, "sign") {
		case 1:
			text, want = "("+text+")", -want
		case 2:
			text, want = "-"+text, -want
		case 3:
			text, want = text+"-", -want
		}
		if got, fault := ParseNumberIn([]byte(text), form.t); fault != "" || got != want {
			rt.Errorf("%q: %v %s, want %v", text, got, fault, want)
		}
		if got := UnitOf([]byte(text)); got != unit {
			rt.Errorf("%q has the unit %q, want %q", text, got, unit)
		}
	})
}

func TestMonthNames(t *testing.T) {
	for text, want := range map[string]string{
		"30-Sep-2024": "2024-09-30", "30. September 2024": "2024-09-30", "Sep 30, 2024": "2024-09-30", "1er août 2024": "2024-08-01", "3 de mayo de 2024": "2024-05-03",
		"1. März 2024": "2024-03-01", "01-JAN-24": "2024-01-01", "31-DEC-99": "1999-12-31", "September 3rd, 2021": "2021-09-03", "7 déc. 2024": "2024-12-07",
		"31 Feb 2024": "", "acc12345": "", "May": "", "May 2024": "", "12 Sep": "", "node 3 of 2024": "", "1 June 20240": "", "june": "", "3 may 4 2024": "",
	} {
		got := ""
		if date, isDate := ParseTime(text); isDate {
			got = date.Format("2006-01-02")
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if date, isDate := ParseTime("30-Sep-2024 10:15:30"); !isDate || date.Format("15:04:05") != "10:15:30" {
		t.Errorf("time of day %v", date)
	}
}
