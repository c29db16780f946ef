package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/heatwalk/heatwalk/internal/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// The titles of every role, which docs/tables.md lists too. Case, and the characters between
// the words of a title, do not matter.

// ends are the pairs of words for the ends of an edge: two titles that differ in one such word.
var ends = splitPairs(`
	source/target source/destination source/dest src/dst src/dest src/tgt src/target from/to
	fromnodeid/tonodeid start/end u/v i/j head/tail row/col row/column sender/receiver
	sender/recipient payer/payee caller/callee origin/destination origin/dest
	auftraggeber/empfänger absender/empfänger zahler/empfänger von/an von/nach quelle/ziel
	debtor/creditor debit/credit remitter/beneficiary sender/beneficiary donor/recipient
	lender/borrower exporter/importer buyer/seller orig/dest konto/gegenkonto
	kontonummer/gegenkonto account/counterparty
	ordering/beneficiary originator/beneficiary
	auftraggeberkonto/empfängerkonto absenderkonto/empfängerkonto zahlerkonto/empfängerkonto senderkonto/empfängerkonto
	auftraggeberiban/empfängeriban zahleriban/empfängeriban
	émetteur/bénéficiaire emetteur/beneficiaire émetteur/destinataire débiteur/créancier donneur/bénéficiaire payeur/bénéficiaire
	ordenante/beneficiario emisor/receptor remitente/destinatario pagador/beneficiario origen/destino
	ordinante/beneficiario mittente/destinatario pagador/beneficiário origem/destino betaler/ontvanger
	afzender/ontvanger calling/called dialer/dialed follower/followee citing/cited parent/child subject/object ego/alter left/right`)

// splitPairs returns pairs of words with a slash between.
func splitPairs(text string) (pairs [][2]string) {
	for _, pair := range strings.Fields(text) {
		first, second, _ := strings.Cut(pair, "/")
		pairs = append(pairs, [2]string{first, second})
	}
	return pairs
}

// senders are the words of ends for the first node of an event, such as a payment or a call.
var senders = strings.Fields("sender payer caller origin auftraggeber absender zahler debtor remitter donor lender orig auftraggeberkonto absenderkonto zahlerkonto senderkonto auftraggeberiban zahleriban émetteur emetteur débiteur donneur payeur ordenante emisor remitente pagador ordinante mittente betaler afzender calling dialer")

// areEvents reports whether the titles of ends say that lines are events: the first is that of a sender, or
// both name a kind of node in addition to a pair of ends, as in source_account.
func areEvents(source, target string) bool {
	isKind := func(title string) bool { return anyOf(titleWords(title), kinds) }
	return anyOf(titleWords(source), senders) ||
		isKind(source) && isKind(target) &&
			NamesEnds(&Sample{Titles: []string{source, target}}) &&
			!hasDigit(source)
}

// numbered are the pairs that follow a word for a node, for example in id1 and id2.
var numbered = splitPairs("1/2 a/b x/y i/j 0/1")

// role is a role of one column, with the words of its titles.
type role struct {
	name    string
	words   []string
	certain int // number of words, the first ones, that have no other use

	parts []string // of words, anywhere in a title that is none of a number, a time or an id; certain
}

// Roles of columns. A title has the role if its last word is in the list, that of a node if all
// of its words are, and that of a time if any is.
var (
	nodeRole = role{name: input.Node,
		words: strings.Fields(`
	node nodes nodeid vertex vertices knoten id ids name user userid paper page person actor v n`), certain: 6}
	weightRole = role{name: input.Weight,
		words: strings.Fields("weight weights w wgt value amount strength count similarity betrag gewicht amt montant importe importo valor bedrag eur euro usd chf gbp")}
	labelRole = role{name: input.Label,
		words: strings.Fields(`
	label labels class y target outcome result ergebnis résultat resultado risultato category group community subject type
	club segment cluster faction department`), certain: 11,
		parts: strings.Fields("fraud verdict suspicious betrug verdacht verdächtig churn")}
	valueRole = role{name: input.Value,
		words: append(strings.Fields("value values number score"),
			labelRole.words...), certain: 15}
	partRole = role{name: input.Part,
		words: strings.Fields("split part set subset fold partition"), certain: 6}
	timeRole = role{name: "time",
		words: strings.Fields("time timestamp date datetime unixtime epoch ts year quarter month week weekday hour created timeset datum zeit uhrzeit jahr quartal monat woche wochentag valuta fecha hora heure jour mois")}
	indexRole = role{name: input.Index,
		words: []string{"unnamed: 0", "index", "row.names", "row_names", "rownames",
			"level_0"}}
)

// noWeights are titles of numbers that are small for strong edges, for example p-values and
// distances; the letters p, q and e precede value or val.
var noWeights = role{name: "no weight",
	words: strings.Fields("pval pvalue qval qvalue evalue fdr padj distance dist distances")}

// quantities are titles of numbers, and of remarks, that are no ids and no labels.
var quantities = strings.Fields(`
	quantity qty units price total cost sum rating age size duration hours minutes seconds
	percent rate score comment comments note notes remark remarks description bemerkung
	kommentar notiz`)

// kinds are words for things that tables of two kinds of nodes have in their titles.
var kinds = strings.Fields(`
	user item product movie film book song track artist album author paper article page
	document doc word term tag customer client buyer seller merchant shop store order account
	card device ip person member company firm group club event gene protein disease drug
	patient species plant pollinator student course team player actor director venue playlist
	reader genre konto kunde iban acct msisdn imsi imei phone subscriber compte cuenta conto conta rekening cliente`)

// persons are further words for nodes in the titles of ends, which do not name a kind.
var persons = strings.Fields(`
	friend contact neighbor neighbour partner employee manager boss supervisor colleague
	coauthor supplier vendor teacher city country airport station host`)

// titleWords splits a title into words of lower case: at signs and blanks, where a capital follows
// a small letter, and between letters and digits. For example, FromNodeId has three.
func titleWords(title string) []string {
	title = withoutType(title)
	var list []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			list = append(list, string(word))
			word = nil
		}
	}
	var previous rune
	for _, r := range title {
		isSign := !unicode.IsLetter(r) && !unicode.IsDigit(r)
		if isSign || unicode.IsUpper(r) && unicode.IsLower(previous) ||
			unicode.IsDigit(r) != unicode.IsDigit(previous) {
			end()
		}
		if !isSign {
			word = append(word, unicode.ToLower(r))
		}
		previous = r
	}
	end()
	return list
}

// neo4jRoles maps titles of Neo4j to plain titles.
var neo4jRoles = map[string]string{":START_ID": "start id", ":END_ID": "end id",
	":ID": "id", ":LABEL": "label", ":TYPE": "type"}

// withoutType returns a title of Neo4j, "name:type" or "name:ROLE(group)", as a
// plain one.
func withoutType(title string) string {
	position := strings.LastIndexByte(title, ':')
	if position < 0 {
		return title
	}
	role, _, _ := strings.Cut(title[position:], "(")
	if plain, ok := neo4jRoles[role]; ok {
		return plain
	}
	if position == 0 {
		return title
	}
	return title[:position]
}

// IndexOfPandas begins the names that pandas gives to numbers of rows in Parquet.
const IndexOfPandas = "__index_level_"

// IsIndex reports whether the title of a first column is one of a column of row numbers, or
// empty, as pandas and R write such columns.
func IsIndex(title string) bool {
	return title == "" ||
		slices.Contains(indexRole.words, strings.ToLower(title)) ||
		strings.HasPrefix(title, IndexOfPandas)
}

// anyOf reports whether one of the words of a title is in a list.
func anyOf(words, list []string) bool {
	return slices.ContainsFunc(words,
		func(word string) bool { return slices.Contains(list, word) })
}

// ends reports whether the last word of a title is one of the role, or a part of the title.
func (r role) ends(title string) bool {
	w := titleWords(title)
	isPart := func(word string) bool { return strings.Contains(strings.ToLower(title), word) }
	return len(w) > 0 && slices.Contains(r.words, w[len(w)-1]) ||
		slices.ContainsFunc(r.parts, isPart) && !isQuantity(title) && !IsTime(title) && !isID(title)
}

// isCertain reports whether a title has the role and no other.
func (r role) isCertain(title string) bool {
	return role{words: r.words[:r.certain], parts: r.parts}.ends(title)
}

// IsNode reports whether a title heads a column of nodes: one or two words for a node, or the
// title that igraph gives to the nodes of NetworkX.
func IsNode(title string) bool {
	w := titleWords(title)
	return title == "_nx_name" ||
		len(w) > 0 && len(w) <= 2 &&
			all(w, func(word string) bool { return slices.Contains(nodeRole.words, word) })
}

// isVertex reports whether a title has a word for nodes of a graph alone.
func isVertex(title string) bool {
	return anyOf(titleWords(title), nodeRole.words[:nodeRole.certain])
}

// isID reports whether a title ends in a word for an id, for example customer_id.
func isID(title string) bool {
	return role{words: []string{"id", "ids", "key"}}.ends(title)
}

// IsLabel reports whether a title heads a column of labels.
func IsLabel(title string) bool { return labelRole.ends(title) }

// IsWeight reports whether a title heads a column of weights.
func IsWeight(title string) bool {
	return weightRole.ends(title) && !isNoWeight(title)
}

// isNoWeight reports whether a title heads numbers that are small for strong edges.
func isNoWeight(title string) bool {
	w := titleWords(title)
	for i, word := range w {
		if i > 0 && (word == "value" || word == "val") &&
			slices.Contains([]string{"p", "q", "e"}, w[i-1]) {
			return true
		}
	}
	return len(w) == 1 && w[0] == "p" || anyOf(w, noWeights.words) ||
		anyOf(w, []string{"adj"}) && anyOf(w, []string{"p"}) ||
		strings.Contains(strings.ToLower(title), "distance")
}

// IsTime reports whether a title heads a column of times.
func IsTime(title string) bool {
	return anyOf(titleWords(title), timeRole.words)
}

// isQuantity reports whether a title heads numbers that are no ids.
func isQuantity(title string) bool {
	if w := titleWords(title); len(w) > 1 && !isID(title) && anyOf(w[:1], strings.Fields("n num anzahl avg mean min max")) {
		return true
	}
	return weightRole.ends(title) || isNoWeight(title) ||
		anyOf(titleWords(title), quantities)
}

// isThing reports whether a title heads a column of ids of any kind: it ends in a word for an id, a
// name or a node, or names a kind of node.
func isThing(title string) bool {
	w := titleWords(title)
	if len(w) == 0 {
		return false
	}
	last := w[len(w)-1]
	if kind, isKey := KindOf(title); isKey {
		w = titleWords(kind)
	}
	if len(last) > 1 && slices.Contains(nodeRole.words, last) || last == "key" ||
		last == "names" {
		return true
	}
	for _, suffix := range []string{"", "s", "n", "id", "name"} {
		if stem := strings.TrimSuffix(w[len(w)-1], suffix); slices.Contains(kinds, stem) ||
			slices.Contains(persons, stem) {
			return true
		}
	}
	return false
}

// AreKinds reports whether the titles of the ends of edges name different kinds of nodes.
func AreKinds(source, target string) bool {
	if NamesEnds(&Sample{Titles: []string{source, target}}) {
		return false
	}
	a, isKey := KindOf(source)
	b, isKeyToo := KindOf(target)
	return a != b && len(a) > 1 && len(b) > 1 &&
		(isKey && isKeyToo ||
			slices.Contains(kinds, a) && slices.Contains(kinds, b))
}

// KindOf returns the noun of a title in small letters, and whether a word for an id follows it.
func KindOf(title string) (kind string, isKey bool) {
	kind = strings.ToLower(strings.Trim(title, " ."))
	for _, suffix := range strings.Fields("id key code number nummer nr no name") {
		stem, cut := strings.CutSuffix(kind, suffix)
		short := strings.TrimRight(stem, "_- .")
		if cut && short != "" && (short != stem || slices.Contains([]string{"id", "nr", "nummer"}, suffix)) {
			return strings.TrimSuffix(short, "s"), true
		}
	}
	return strings.TrimSuffix(kind, "s"), false
}

// Choose returns the columns, from 0, that fields names: numbers from 1 if all are
// whole numbers above 0, else titles.
func Choose(fields, titles []string) ([]int, error) {
	var list []int
	if Numbers(fields) {
		for _, field := range fields {
			n, _ := strconv.Atoi(field)
			list = append(list, n-1)
		}
		return list, nil
	}
	for _, field := range fields {
		position := slices.Index(titles, field)
		if position < 0 {
			position = slices.IndexFunc(titles,
				func(title string) bool { return slices.Equal(titleWords(title), titleWords(field)) })
		}
		if position < 0 {
			return nil, fmt.Errorf("the header %s has no column %q",
				QuoteTitles(titles, Comma), field)
		}
		if slices.Contains(list, position) {
			return nil, fmt.Errorf("column %q of the header %s is named twice",
				titles[position], QuoteTitles(titles, Comma))
		}
		list = append(list, position)
	}
	return list, nil
}

// ChooseWithin is [Choose] for a table of n columns.
func ChooseWithin(fields, titles []string, n int) ([]int, error) {
	columns, err := Choose(fields, titles)
	if err == nil && columns != nil && slices.Max(columns) >= n {
		err = fmt.Errorf("%s, but column %d was requested", words.Counted(n, "column"),
			slices.Max(columns)+1)
	}
	return columns, err
}

// Numbers reports whether fields are numbers of columns, and no titles.
func Numbers(fields []string) bool {
	return all(fields, func(field string) bool {
		n, err := strconv.Atoi(field)
		return err == nil && n > 0
	})
}

// QuoteTitles writes titles as in a file with the given separator, quoted and cut at 200 bytes.
func QuoteTitles(titles []string, sep byte) string {
	const limit = 200
	text := strings.Join(titles, string(rune(sep)))
	if len(text) > limit {
		return strconv.Quote(text[:limit]) + "…"
	}
	return strconv.Quote(text)
}

// FieldList returns columns as the value of an option: their titles if a shell and the option
// take them as they are, or else their numbers from 1.
func FieldList(titles []string, columns ...int) string {
	var names, numbers []string
	isPlain := true
	for _, i := range columns {
		title := titles[i]
		names = append(names, title)
		numbers = append(numbers, strconv.Itoa(i+1))
		isRepeated := slices.Index(titles, title) != i ||
			slices.Contains(titles[i+1:], title)
		isPlain = isPlain && !isRepeated && title != "" && !IsNumber(title) && !strings.ContainsAny(title, ", \t\"'${}`\\*?!&|;<>()#~") && input.Escape(title) == title && len(title) <= 60
	}
	if isPlain {
		return strings.Join(names, ",")
	}
	return strings.Join(numbers, ",")
}

// sharedIDs returns the number of ids that two columns share, apart from words for missing ones and from rows in
// which both are equal: those are two names of one thing.
func (s *Sample) sharedIDs(i, j int) int {
	untitled := &Sample{Titles: s.Titles}
	for _, row := range s.Rows {
		if max(i, j) < len(row) && row[i] != row[j] &&
			!IsMissing(row[i], Missing) && !IsMissing(row[j], Missing) {
			untitled.Rows = append(untitled.Rows, row)
		}
	}
	return untitled.column(i).countShared(untitled.column(j))
}

// endColumns returns the columns that may hold ends of edges: ids that are neither line numbers, quantities, times nor
// the few words of categories.
func endColumns(s *Sample, isHeader bool) (columns []int) {
	for i, title := range s.Titles {
		c := s.column(i)
		isID := c.all(func(text string) bool {
			isNumber := isNumeric(text)
			return (isNumber && !strings.ContainsAny(text, ".,") || !isNumber && FormOf([]byte(text)) == Word) && !IsDate(text)
		})
		const few = 8
		count := len(c.distinct())
		isCategory := len(s.Rows) > 5 && (10*count < len(s.Rows) || count < few && 4*count < len(s.Rows))
		if isID && !isCategory && !c.isConsecutive() &&
			!(isHeader && (i == 0 && IsIndex(title) || isQuantity(title) ||
				IsTime(title))) {
			columns = append(columns, i)
		}
	}
	return columns
}

// likelyEnds returns the only two columns that may hold ends and share ids, or −1.
func likelyEnds(s *Sample, isHeader bool) (source, target int) {
	columns := endColumns(s, isHeader)
	source = -1
	target = -1
	for k, i := range columns {
		for _, j := range columns[k+1:] {
			smaller := min(len(s.column(i).distinct()), len(s.column(j).distinct()))
			count := s.sharedIDs(i, j)
			need := max(1, smaller/8)                                     // names of things agree by chance too
			if s.column(i).all(IsInteger) && s.column(j).all(IsInteger) { // small numbers agree by chance
				need = max(2, (smaller+1)/2)
			}
			if count < need {
				continue
			}
			if source >= 0 {
				return -1, -1
			}
			source = i
			target = j
		}
	}
	return source, target
}

// tooMany is the error for lines of more than three fields without a header.
func tooMany(s *Sample) error {
	isRagged := len(s.Rows) > 0 && !s.IsAbove(len(s.Titles))
	areWords := !slices.ContainsFunc(s.Titles, IsNumber)
	msg := words.Counted(len(s.Titles), "field")
	if isRagged {
		msg += ", and other lines have other numbers of them"
	}
	switch {
	case areWords && (isRagged || s.Separator == Blanks):
		return &input.Error{Msg: msg,
			Fix: "if names contain " +
				words.Plural(strings.ToLower(SeparatorName(s.Separator))) +
				", quote them or put tabs between the fields; of lists of neighbours write one edge a line"}
	case isRagged && s.Separator == Blanks:
		return &input.Error{Msg: msg,
			Fix: "of lists of neighbours write one edge a line, as networkx.write_edgelist does"}
	}
	return s.ask(false, msg)
}

// askForEnds returns the error for a header whose titles name no ends of an edge.
func askForEnds(s *Sample) error {
	return s.ask(true, fmt.Sprintf("the header %s names no source and target",
		QuoteTitles(s.Titles, Comma)))
}

// ask returns an error whose remedy names the columns of an edge: the only two columns that share
// ids, and as the weight, kind or time the columns of numbers. Without such columns it asks which ones are
// meant, because a guess would join things that have nothing in common.
func (s *Sample) ask(isHeader bool, msg string) error {
	titles := s.Titles
	if !isHeader {
		titles = make([]string, len(titles))
	}
	source, target := likelyEnds(s, isHeader)
	weights := weightColumns(s, titles, source, target)
	if source < 0 {
		list := fmt.Sprintf("the columns 1 to %d", len(titles))
		if isHeader {
			var named []string
			columns := endColumns(s, true)
			for i, title := range titles {
				if slices.Contains(columns, i) || len(columns) < 2 && !(i == 0 && IsIndex(title)) {
					named = append(named, title)
				}
			}
			list = strings.Join(named[:min(len(named), 20)], ", ")
		}
		fields := "SOURCE,TARGET"
		if len(weights) == 1 && IsWeight(titles[weights[0]]) && FieldList(titles, weights...) == titles[weights[0]] {
			fields += "," + titles[weights[0]]
		}
		return &input.Error{Msg: msg + "; which two of " + list +
			" are source and target?", Fix: "pass {fields=" + fields + "}"}
	}
	ends := FieldList(titles, source, target)
	numbers := fmt.Sprintf("%d,%d", source+1, target+1)
	fix := fmt.Sprintf("pass {fields=%s}", ends)
	option := ""
	if len(weights) == 1 && source < weights[0] && weights[0] < target {
		option = "kind"
	} else if len(weights) == 1 && weights[0] == 0 && s.column(0).mayBeTimes() {
		option = "time"
	}
	switch {
	case option != "":
		fix = fmt.Sprintf("pass {fields=%s}, and {%s=%s} to keep the %[2]ss", ends, option, FieldList(titles, weights...))
	case len(weights) == 1, len(weights) > 0 && IsWeight(titles[weights[0]]):
		var choices [][]int
		for _, weight := range weights {
			choices = append(choices, []int{source, target, weight})
		}
		fix = fmt.Sprintf("%s, or without a weight {fields=%s}", pass("fields", titles, choices), ends)
	case ends != numbers:
		fix += fmt.Sprintf(" (or {fields=%s})", numbers)
	}
	return &input.Error{Msg: msg, Fix: fix}
}

// weightColumns returns the columns of numbers that may be the weight of edges between two columns: those with the title of
// one, if there are any.
func weightColumns(s *Sample, titles []string, source, target int) (columns []int) {
	for i, title := range titles {
		c := s.column(i)
		isMeasure := i != source && i != target && !c.all(isTime) &&
			c.all(func(text string) bool { return isNumeric(text) || IsMissing(text, Missing) }) &&
			!(len(s.Rows) > 2 && c.isConsecutive()) && c.uncountable() == ""
		if isMeasure && !IsTime(title) && !IsNode(title) && !isNoWeight(title) {
			columns = append(columns, i)
		}
	}
	return keepColumns(columns, func(i int) bool { return IsWeight(titles[i]) })
}
