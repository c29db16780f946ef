package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// EdgeColumns holds the columns of a table, from 0, with the ends of an edge and its weight;
// −1 means that there is no such column.
type EdgeColumns struct {
	Source, Target, Weight int
}

// EdgeOptions are the settings for the choice of columns of edges.
type EdgeOptions struct {
	Fields []string // columns of source, target and weight, by numbers from 1 or titles; nil: chosen
	Weight string   // column of the weight; "": chosen
	Kind   string   // column of the kind; "": none
	Time   string   // column of the time; "": none
	Signed bool     // a negative number in a column that is ignored is an error
	Header input.Header
}

// EdgeTable is the choice of columns of a table of edges.
type EdgeTable struct {
	EdgeColumns
	Kind, Time int // columns of the kind and the time of an edge; −1: none
	HasHeader  bool
	AreEvents  bool // lines are events between two nodes: they have a time, or titles of a sender and a receiver
	hasIndex   bool // the first column numbers the lines of a file without a header
	Columns    input.Columns
	Warnings   []*input.Error // without the name of the file; Line is 1 for the first line of the sample
	negative   *input.Error   // that there are negative numbers in a column that is ignored; nil: there are none
}

// ChooseEdges chooses the columns of a table of edges: those that the options name, or those with
// the titles of ends, or else the only two that can be ends. It returns an *input.Error without a
// place if two readings are possible.
func (s *Sample) ChooseEdges(o EdgeOptions) (*EdgeTable, error) {
	if o.Kind != "" || o.Time != "" {
		return chooseCoded(s, o)
	}
	t := &EdgeTable{EdgeColumns: EdgeColumns{-1, -1, -1}, Kind: -1, Time: -1}
	pairs := s.pairs()
	isNamed := len(pairs) > 0 &&
		(o.Header == input.HasHeader ||
			o.Header == input.AutoHeader && !s.Recurs(pairs[0]...))
	var err error
	switch {
	case o.Fields != nil:
		err = t.byFields(s, o)
	case isNamed:
		err = t.byTitles(s, pairs, o.Weight)
	case o.Weight != "":
		err = askForEnds(s)
	default:
		err = t.byPosition(s, o.Header)
	}
	if err != nil {
		return t, err
	}
	if o.Signed && t.negative != nil {
		return t, t.negative
	}
	t.report(s)
	return t, nil
}

// chooseCoded is ChooseEdges with a kind or a time: the other columns are chosen from a table without these.
func chooseCoded(s *Sample, o EdgeOptions) (*EdgeTable, error) {
	column := [2]int{-1, -1}
	for i, option := range []struct{ field, name string }{{o.Kind,
		"kind"}, {o.Time, "time"}} {
		if option.field == "" {
			continue
		}
		columns, err := s.choose([]string{option.field}, option.name)
		if err != nil {
			return new(EdgeTable), err
		}
		column[i] = columns[0]
		if !Numbers([]string{option.field}) && o.Header == input.AutoHeader {
			o.Header = input.HasHeader
		}
	}
	var places []int // of the columns to choose from
	for i := range s.Titles {
		if o.Fields != nil || i != column[0] && i != column[1] {
			places = append(places, i)
		}
	}
	uncoded := func(row []string) (kept []string) {
		for _, i := range places {
			if i < len(row) {
				kept = append(kept, row[i])
			}
		}
		return kept
	}
	plain := &Sample{Titles: uncoded(s.Titles), Text: s.Text,
		Separator: s.Separator}
	for _, row := range s.Rows {
		plain.Rows = append(plain.Rows, uncoded(row))
	}
	o.Kind = ""
	o.Time = ""
	t, err := plain.ChooseEdges(o)
	if err != nil {
		return t, err
	}
	for _, c := range []*int{&t.Source, &t.Target, &t.Weight} {
		if *c >= 0 {
			*c = places[*c]
			if slices.Contains(column[:], *c) {
				return t, &input.Error{Msg: fmt.Sprintf("column %d is named twice", *c+1), Fix: "correct {fields}"}
			}
		}
	}
	t.Kind = column[0]
	t.Time = column[1]
	t.report(s)
	return t, nil
}

// pairs returns the columns whose titles are the same except for the words of a pair of ends. The
// words that they share must not be those of times; for a numbered pair they must name a node.
func (s *Sample) pairs() (pairs [][]int) {
	titles := make([][]string, len(s.Titles))
	for i, title := range s.Titles {
		titles[i] = titleWords(title)
	}
	add := func(list [][2]string, isGood func(stem []string) bool) {
		for _, pair := range list {
			for i, title := range titles {
				position := slices.Index(title, pair[0])
				if position < 0 || !isGood(slices.Delete(slices.Clone(title),
					position, position+1)) {
					continue
				}
				partner := slices.Clone(title)
				partner[position] = pair[1]
				for j := range titles {
					if slices.Equal(titles[j], partner) &&
						!slices.ContainsFunc(pairs,
							func(columns []int) bool {
								return slices.Equal(columns,
									[]int{i, j})
							}) && !areInterval(s, i, j, pair[0]) {
						pairs = append(pairs, []int{i, j})
					}
				}
			}
		}
	}
	add(ends, func(stem []string) bool { return !anyOf(stem, timeRole.words) })
	add(numbered, func(stem []string) bool {
		return anyOf(stem, nodeRole.words) || anyOf(stem, kinds) ||
			anyOf(stem, persons)
	})
	for i, title := range s.Titles { // as well as From Bank and To Bank, two columns Account may be meant
		if j := slices.Index(s.Titles[i+1:], title); len(pairs) > 0 && j >= 0 &&
			isThing(title) && !slices.Contains(s.Titles[:i], title) {
			pairs = append(pairs, []int{i, i + 1 + j})
		}
	}
	return pairs
}

// areInterval reports whether two columns hold dates, or under the titles start and end the
// bounds of an interval: numbers in order without an id in common, in a table of other columns.
func areInterval(s *Sample, i, j int, word string) bool {
	first := s.column(i)
	last := s.column(j)
	if first.areDates() && last.areDates() {
		return true
	}
	if word != "start" || len(s.Titles) < 3 || len(s.Rows) < 2 ||
		!first.holdsNumbers() || !last.holdsNumbers() ||
		first.countShared(last) > 0 {
		return false
	}
	return all(s.Rows, func(row []string) bool { return compareIDs(row[i], row[j]) <= 0 })
}

// byFields takes the columns that the settings name.
func (t *EdgeTable) byFields(s *Sample, o EdgeOptions) error {
	columns, err := s.choose(o.Fields, "fields")
	if err != nil {
		return err
	}
	t.Source = columns[0]
	t.Target = columns[1]
	if len(columns) == 3 {
		t.Weight = columns[2]
	}
	isNamed := !Numbers(o.Fields) || s.Titles[0] == "" && NamesEnds(s)
	chosen := &Sample{Titles: []string{s.Titles[t.Source], s.Titles[t.Target]}}
	t.HasHeader = isNamed || o.Header == input.HasHeader ||
		o.Header == input.AutoHeader &&
			(NamesEnds(chosen) && !s.Recurs(t.Source, t.Target) ||
				s.isAboveNumbers(t.Source, t.Target) ||
				s.Evidence(t.Source, t.Target) == IsHeader)
	return nil
}

// byTitles takes the columns with the titles of ends, and the one with the title of a weight.
func (t *EdgeTable) byTitles(s *Sample, pairs [][]int, weight string) error {
	if len(pairs) > 1 {
		return severalError(s, "fields",
			"two pairs of columns could be source and target: ", ", or ", pairs)
	}
	t.Source = pairs[0][0]
	t.Target = pairs[0][1]
	t.HasHeader = true
	if weight != "" {
		columns, err := s.choose([]string{weight}, "weight")
		if err != nil {
			return err
		}
		t.Weight = columns[0]
		return nil
	}
	var list [][]int
	for i, title := range s.Titles {
		if i != t.Source && i != t.Target && IsWeight(title) {
			list = append(list, []int{i})
		}
	}
	if len(list) > 1 && len(s.Rows) > 0 { // text is no weight
		list = slices.DeleteFunc(list, func(i []int) bool {
			return !slices.ContainsFunc(s.column(i[0]).values, isNumeric)
		})
	}
	switch len(list) {
	case 0:
		t.warnUnweighted(s)
	case 1:
		t.Weight = list[0][0]
	default:
		return severalError(s, "weight", "several columns could be the weight: ",
			", ", list)
	}
	return nil
}

// severalError returns the error about several columns, or pairs of columns, that could have a role.
func severalError(s *Sample, option, msg, separator string, choices [][]int) error {
	var names []string
	for _, columns := range choices {
		quoted := words.Quoted(s.Titles[columns[0]])
		for _, i := range columns[1:] {
			quoted += " and " + words.Quoted(s.Titles[i])
		}
		names = append(names, quoted)
	}
	return &input.Error{Msg: msg + strings.Join(names, separator),
		Fix: pass(option, s.Titles, choices)}
}

// pass returns the remedy that lists the values of an option for the given choices of columns.
func pass(option string, titles []string, choices [][]int) string {
	var list []string
	for _, columns := range choices {
		list = append(list, fmt.Sprintf("{%s=%s}", option,
			FieldList(titles, columns...)))
	}
	return "pass " + strings.Join(list, " or ")
}

// warnUnweighted warns of ignored columns of numbers if no column is the weight.
func (t *EdgeTable) warnUnweighted(s *Sample) {
	var names []string
	var columns []int
	isNegative := func(text string) bool { return strings.HasPrefix(text, "-") }
	hasNegative := false
	for i, title := range s.Titles {
		c := s.column(i)
		if i != t.Source && i != t.Target && !(i == 0 && IsIndex(title)) &&
			!IsTime(title) && !IsNode(title) && c.holdsNumbers() {
			names = append(names, words.Quoted(title))
			if !isNoWeight(title) {
				columns = append(columns, i)
			}
			hasNegative = hasNegative || slices.ContainsFunc(c.values, isNegative)
		}
	}
	fix := "{weight=NAME} makes one the weight"
	switch len(columns) {
	case 0:
		fix = "a weight has to be large for strong edges"
	case 1:
		fix = fmt.Sprintf("{weight=%s} makes it the weight",
			FieldList(s.Titles, columns[0]))
		if t.Source < columns[0] && columns[0] < t.Target {
			fix = fmt.Sprintf("{kind=%s} keeps them as kinds", FieldList(s.Titles, columns[0]))
		}
	}
	noun := "column"
	if len(names) > 1 {
		noun = "columns"
	}
	if len(names) > 0 {
		t.warn(0, "edges have no weight; the numbers of the "+noun+" "+
			strings.Join(names[:min(len(names), 5)], ", ")+" are ignored", fix)
		if hasNegative {
			t.negative = t.Warnings[len(t.Warnings)-1]
		}
	}
}

func (t *EdgeTable) warn(line int64, msg, fix string) {
	t.Warnings = append(t.Warnings, &input.Error{Line: line, Msg: msg, Fix: fix})
}

// byPosition takes the only two columns that can be ends, under a header or without one.
func (t *EdgeTable) byPosition(s *Sample, header input.Header) error {
	first := 0
	n := len(s.Titles)
	if header != input.NoHeader && n > 2 && IsIndex(s.Titles[0]) &&
		(isCount(s.Titles[1:]) || !IsNumber(s.Titles[n-1])) {
		first = 1
		t.HasHeader = true
	}
	doubt := IsData
	if header == input.HasHeader {
		t.HasHeader = true
	} else if header == input.AutoHeader && !t.HasHeader && n > 1 {
		doubt = s.evidenceOf(n)
		if doubt == IsHeader {
			t.HasHeader = true
			t.warn(1, "read as a header: "+
				input.Escape(strings.Join(s.Titles[:min(n, 10)], ", ")),
				"pass {header=no} if it is an edge")
		}
	}
	if t.HasHeader && n > 1 {
		return t.underTitles(s, first)
	}
	t.HasHeader = false
	if err := t.withoutTitles(&Sample{Titles: s.Titles,
		Rows: append([][]string{s.Titles}, s.Rows...),
		Text: s.Text, Separator: s.Separator}); err != nil {
		return err
	}
	if doubt == Undecided {
		t.warn(1, fmt.Sprintf("read as an edge: %s – %s",
			input.Escape(s.Titles[t.Source]), input.Escape(s.Titles[t.Target])),
			"pass {header=yes} if it is a header")
	}
	return nil
}

// evidenceOf returns the evidence that the first line of n fields is a header: a title above
// numbers, or else the form of the ids.
func (s *Sample) evidenceOf(n int) Evidence {
	columns := []int{0, 1}
	for i := 2; i < n && n > 3; i++ {
		columns = append(columns, i)
	}
	if s.isAboveNumbers(0, 1) {
		return IsHeader
	}
	if n > 3 { // the lines are no edges anyway
		if s.IsAbove(n) && s.Recurs(columns...) {
			return IsData
		}
		for _, i := range columns {
			if s.IsAbove(n) && isThing(s.Titles[i]) {
				return IsHeader
			}
		}
	}
	return s.Evidence(columns...)
}

// isAboveNumbers reports whether a field of the first line is a title above numbers or times:
// those of both ends above integers, or that of another column.
func (s *Sample) isAboveNumbers(source, target int) bool {
	isWord := func(i int) bool { return !IsInteger(s.Titles[i]) && s.column(i).all(IsInteger) }
	if isWord(source) && isWord(target) {
		return true
	}
	for i, title := range s.Titles {
		if (i != source && i != target || len(s.Titles) > 3) && IsTitle(title) &&
			len(s.Rows) > 0 && (s.column(i).holdsNumbers() ||
			s.column(i).all(isTime)) {
			return true
		}
	}
	return false
}

// underTitles takes the columns under a header whose titles name no ends: the only two, apart from
// row numbers and one column with the title of a weight or of times.
func (t *EdgeTable) underTitles(s *Sample, first int) error {
	var columns []int
	weight := -1
	measures := 0
	isPandas := first > 0 && isCount(s.Titles[first:]) || isCount(s.Titles)
	for i := first; i < len(s.Titles); i++ {
		switch title := s.Titles[i]; {
		case strings.HasPrefix(title, IndexOfPandas), s.column(i).areDates() &&
			len(s.Titles)-first > 3:
		case isPandas && i == first+2:
			if s.column(i).uncountable() == "" && s.column(i).all(isNumeric) {
				weight = i
			}
		case IsTime(title) || isNoWeight(title):
			measures++
		case IsWeight(title):
			weight = i
			measures++
		default:
			columns = append(columns, i)
		}
	}
	if len(s.Titles)-first == 2 { // weights are no ends elsewhere, but two columns are those of ends
		columns = []int{first, first + 1}
		weight = -1
		measures = 0
	}
	if len(columns) != 2 {
		return askForEnds(s)
	}
	if source, target := likelyEnds(s, true); measures > 1 &&
		(source != columns[0] || target != columns[1]) {
		return askForEnds(s)
	}
	for _, i := range columns {
		if s.column(i).areDates() {
			return s.ask(true, fmt.Sprintf("the column %s holds dates, which are no ends of an edge", words.Quoted(s.Titles[i])))
		}
	}
	t.Source = columns[0]
	t.Target = columns[1]
	t.Weight = weight
	if weight < 0 {
		t.warnUnweighted(s)
	}
	return nil
}

// withoutTitles takes the columns of a file without a header: the two or three behind a column of
// line numbers.
func (t *EdgeTable) withoutTitles(s *Sample) error {
	first := 0
	n := len(s.Titles)
	if counter := s.column(0); n > 2 && counter.isCounter() && len(s.Rows) > 2 {
		source := s.column(1)
		target := s.column(2)
		isEnd := counter.countShared(source) > 0 ||
			counter.countShared(target) > 0 && n == 3
		isID := target.all(func(text string) bool { return IsInteger(text) || !IsNumber(text) })
		targets := len(target.distinct())
		switch {
		case isID && !isEnd, n > 3 && !isEnd:
			first = 1
			t.hasIndex = true
		case isID && n == 3 && len(s.Rows) > 3 &&
			2*source.countShared(target) >= targets && targets > 2:
			return &input.Error{Msg: "the first column counts the lines, and may hold their numbers or the sources", Fix: "pass {fields=2,3} or {fields=1,2,3}"}
		}
	}
	if n == 3 && hasClock(s) {
		return &input.Error{Msg: "the first column never falls and may hold times",
			Fix: "pass {fields=2,3}, and {time=1} to keep the times, or {fields=1,2,3}"}
	}
	switch {
	case n < 2:
		fix := "write source and target on each line, with a separator between"
		otherwise := ""
		if len(s.Rows) > 1 && all(s.Rows[1:], func(row []string) bool { return len(row) == 2 || len(row) == 3 }) { // of lines below
			fix = "fix the line"
			otherwise = "pass {skip-bad-lines}"
		}
		if n == 1 && delimiterFix(s.Titles[0]) != "" {
			fix = delimiterFix(s.Titles[0])
			otherwise = ""
		}
		return &input.Error{Msg: words.Counted(n, "field") +
			", want 2 or 3 (source, target, weight)", Fix: fix, Otherwise: otherwise}
	case n-first > 3:
		return tooMany(s)
	}
	t.Source = first
	t.Target = first + 1
	for _, i := range []int{t.Source, t.Target} {
		if s.column(i).areDates() && len(s.Rows) > 1 {
			return s.ask(false, fmt.Sprintf("column %d holds dates, which are no ends of an edge", i+1))
		}
	}
	if n-first < 3 {
		return nil
	}
	third := first + 2
	if all(s.column(third).values, func(text string) bool {
		_, fault := ParseNumber([]byte(text), 64)
		return fault == "is not a number" && (IsTitle(text) || IsMissing(text, Missing))
	}) {
		return s.ask(false, fmt.Sprintf("column %d holds text, for example %s, and no weight", third+1, words.Quoted(s.Titles[third])))
	}
	if why := s.column(third).uncountable(); why != "" && len(s.Rows) > 1 {
		t.warn(0, fmt.Sprintf("column %d looks like %s and is left out", third+1, why), fmt.Sprintf("{fields=%d,%d,%d} makes it the weight",
			first+1, first+2, third+1))
		return nil
	}
	clock := s.column(third)
	startsAtZero := clock.mayBeTimes() && clock.values[0] == "0" && len(clock.distinct()) >= leastTimes
	if startsAtZero || clock.areTimes() {
		return &input.Error{Msg: "the third column never falls and may hold times",
			Fix: "pass {fields=1,2}, and {time=3} to keep the times, or {fields=1,2,3}"}
	}
	t.Weight = third
	return nil
}

// report sets the uses of the columns. Columns of times are ignored with a note, because their
// numbers could be taken for weights.
func (t *EdgeTable) report(s *Sample) {
	titles := s.Titles
	t.Columns = nameColumns(s.Titles, t.HasHeader)
	t.AreEvents = t.Time >= 0 ||
		t.HasHeader && areEvents(titles[t.Source], titles[t.Target])
	uses := map[int]string{t.Time: input.Time, t.Kind: input.Kind, t.Weight: input.Weight,
		t.Target: input.Target, t.Source: input.Source}
	for i, title := range titles {
		use, isUsed := uses[i]
		t.AreEvents = t.AreEvents || !isUsed && (t.HasHeader && IsTime(title) ||
			len(s.Rows) > 0 && s.column(i).all(func(text string) bool { return isTime(text) || IsDate(text) }))
		switch c := &t.Columns[i]; {
		case isUsed:
			c.Use = use
		case t.HasHeader && (i == 0 && IsIndex(title) ||
			strings.HasPrefix(title, IndexOfPandas)), i == 0 && t.hasIndex:
			c.Use = input.Index
		case t.HasHeader && isNoWeight(title):
			c.Note = "small for strong edges"
		case t.HasHeader && IsTime(title):
			c.Note = "times"
		case !t.HasHeader:
			c.Note = s.column(i).uncountable()
		}
	}
}
