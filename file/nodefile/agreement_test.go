package nodefile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/sparse/shard"
)

type bankRow struct{ account, iban, owner, checked, segment, balance, result string }

// bankTable returns random rows, every third with a result, and the nodes of a graph with most accounts.
func bankTable(t *testing.T, random *rand.Rand, areNumbers bool) ([]bankRow, *shard.Nodes) {
	var rows []bankRow
	var ids []string
	for i := range 40 {
		r := bankRow{
			account: fmt.Sprintf("DE%05d", 11000+i), iban: fmt.Sprintf("IBAN%08d", random.IntN(1e8)), owner: fmt.Sprintf("Person %d Meyer", i),
			checked: fmt.Sprintf("2024-%02d-%02d", 1+random.IntN(12), 1+random.IntN(28)), segment: []string{"private", "business", "student"}[random.IntN(3)],
			balance: strconv.FormatFloat(random.Float64()*1e4, 'f', 2, 64),
		}
		if areNumbers {
			r.account = strconv.Itoa(11000 + i)
		}
		if i%3 > 0 {
			r.result = []string{"honest", "fraud"}[random.IntN(2)]
		}
		if i != 7 {
			ids = append(ids, r.account)
		}
		rows = append(rows, r)
	}
	nodes, err := shard.StringNodes(slices.Values(ids))
	if err != nil {
		t.Fatal(err)
	}
	return rows, nodes
}

func jsonTable(t *testing.T, text, sep, indent string) string {
	var lines []string
	var objects []map[string]any
	rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	keys := strings.Split(rows[0], sep)
	for _, row := range rows[1:] {
		object := map[string]any{}
		for i, cell := range strings.Split(row, sep) {
			object[keys[i]] = cell
			if cell == "" {
				object[keys[i]] = nil
			}
		}
		line, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
		objects = append(objects, object)
	}
	if indent == "" {
		return strings.Join(lines, "\n")
	}
	list, err := json.MarshalIndent(objects, "", indent)
	if err != nil {
		t.Fatal(err)
	}
	return string(list)
}

// The form of a table must not change its labels: order and titles of columns, separator or JSON, an index, dates,
// numbers as classes.
func TestLabelForms(t *testing.T) {
	random := rand.New(rand.NewPCG(78, 3))
	columns := []struct {
		titles []string
		value  func(r bankRow) string
	}{
		{[]string{"account", "Konto", "cuenta", "acct", "customer_id", "IDs"}, func(r bankRow) string { return r.account }},
		{[]string{"result", "fraud", "Ergebnis", "label", "risk class", "verdict"}, func(r bankRow) string { return r.result }},
		{[]string{"checked_on", "geprüft am", "month", "opened"}, func(r bankRow) string { return r.checked }},
		{[]string{"balance", "Guthaben", "x7"}, func(r bankRow) string { return r.balance }},
		{[]string{"iban", "key", "reference"}, func(r bankRow) string { return r.iban }},
		{[]string{"owner", "full name", "Inhaber"}, func(r bankRow) string { return r.owner }},
		{[]string{"bank", "country"}, func(bankRow) string { return "DE" }},
	}
	for trial := range 300 {
		rows, nodes := bankTable(t, random, trial%3 == 0)
		hasCodes := trial%4 == 1
		dates := []string{"%[1]s-%[2]s-%[3]s", "%[3]s.%[2]s.%[1]s", "%[2]s/%[3]s/%[1]s", "%[1]s-%[2]s-%[3]s 10:15:00"}[trial%4]
		order := append([]int{0, 1}, random.Perm(len(columns) - 2)[:random.IntN(4)]...)
		for i := range order[2:] {
			order[2+i] += 2
		}
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		sep := []string{",", ";", "\t"}[random.IntN(3)]
		hasIndex := random.IntN(3) == 0
		var b strings.Builder
		for line := -1; line < len(rows); line++ {
			var cells []string
			if hasIndex {
				cells = append(cells, strconv.Itoa(line))
				if line < 0 {
					cells[0] = ""
				}
			}
			for _, k := range order {
				if line < 0 {
					cells = append(cells, columns[k].titles[random.IntN(len(columns[k].titles))])
					continue
				}
				text := columns[k].value(rows[line])
				switch {
				case k == 1 && hasCodes && text != "":
					text = map[string]string{"fraud": "1", "honest": "0"}[text]
				case k == 2:
					part := strings.Split(text, "-")
					text = fmt.Sprintf(dates, part[0], part[1], part[2])
				}
				cells = append(cells, text)
			}
			b.WriteString(strings.Join(cells, sep) + "\n")
		}
		content := b.String()
		if !hasIndex && trial%5 == 0 {
			content = jsonTable(t, content, sep, []string{"", "  "}[random.IntN(2)])
		}
		path := write(t, file{"t.csv", content})[0]
		l, err := ReadLabels(t.Context(), path, nodes, &LabelConfig{SkipUnknown: true})
		if err != nil {
			first := 1
			if hasIndex {
				first = 2
			}
			fields := fmt.Sprintf("%d,%d", first+slices.Index(order, 0), first+slices.Index(order, 1))
			if content == b.String() {
				fields = strings.Join(paste(t, err, content, fields), ",")
			} else { // JSON objects have their columns in another order
				titles := strings.Split(strings.Split(b.String(), "\n")[0], sep)
				fields = titles[slices.Index(order, 0)] + "," + titles[slices.Index(order, 1)]
			}
			l, err = ReadLabels(t.Context(), path, nodes, &LabelConfig{SkipUnknown: true, Fields: strings.Split(fields, ",")})
		}
		if err != nil {
			t.Fatalf("trial %d: %v\n%s", trial, err, b.String()[:200])
		}
		got := map[string]string{}
		for i, row := range l.Row {
			got[nodes.ID(row)] = l.Names[l.Class[i]]
		}
		for i, r := range rows {
			want := r.result
			if hasCodes && want != "" {
				want = map[string]string{"fraud": "1", "honest": "0"}[want]
			}
			if i != 7 && got[r.account] != want {
				t.Fatalf("trial %d: %s is %q, want %q (%s)\n%s", trial, r.account, got[r.account], want, l.Columns, b.String()[:200])
			}
		}
	}
}

// Ids lost zeros, blanks or capitals.
func TestSimilarIDs(t *testing.T) {
	changes := []func(id string) string{
		func(id string) string { return strings.TrimLeft(id, "0") },
		func(id string) string { return strings.ReplaceAll(id, " ", "") },
		strings.ToLower,
	}
	for kind, change := range changes {
		var ids []string
		for i := range 30 {
			ids = append(ids, []string{fmt.Sprintf("%08d", 100+7*i), fmt.Sprintf("DE%02d 5005 %04d", i, 9*i), fmt.Sprintf("KX%03d", i)}[kind])
		}
		nodes, err := shard.StringNodes(slices.Values(ids))
		if err != nil {
			t.Fatal(err)
		}
		text := "node;label;day\n"
		for i, id := range ids {
			text += fmt.Sprintf("%s;%s;2024-03-%02d\n", change(id), []string{"ok", "fraud"}[i%2], 1+i%28)
		}
		path := write(t, file{"t.csv", text})[0]
		_, err = ReadLabels(t.Context(), path, nodes, nil)
		_, listErr := ReadIDs(t.Context(), path, nodes, nil)
		for i, err := range []error{err, listErr} {
			if err == nil || !strings.Contains(err.Error(), "; the graph has \"") {
				t.Errorf("ids %d, reader %d: %v", kind, i, err)
			}
		}
	}
}
