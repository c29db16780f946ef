package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/heatwalk/heatwalk/file/input"
)

// ends are pairs of words in the titles of an edge's ends; the first pair that a
// header has decides.
var ends = [][2]string{
	{"source", "target"}, {"source", "destination"}, {"source", "dest"}, {"src", "dst"}, {"src", "dest"}, {"src", "tgt"}, {"src", "target"},
	{"from", "to"}, {"fromnodeid", "tonodeid"}, {"start", "end"}, {"u", "v"}, {"i", "j"}, {"head", "tail"}, {"row", "col"}, {"row", "column"},
	{"sender", "receiver"}, {"sender", "recipient"}, {"payer", "payee"}, {"caller", "callee"}, {"origin", "destination"}, {"origin", "dest"},
	{"follower", "followee"}, {"citing", "cited"}, {"parent", "child"}, {"subject", "object"}, {"ego", "alter"}, {"left", "right"},
}

// numbered are pairs of suffixes of a word for a node.
var numbered = [][2]string{{"1", "2"}, {"a", "b"}, {"x", "y"}, {"i", "j"}, {"0", "1"}}

// Words of titles.
var (
	nodeWords   = []string{"node", "nodes", "id", "ids", "name", "vertex", "vertices", "user", "userid", "paper", "page", "nodeid", "person", "actor", "v", "n"}
	weightWords = []string{"weight", "weights", "w", "wgt", "value", "amount", "strength", "count", "similarity"}
	timeWords   = []string{"time", "timestamp", "date", "datetime", "unixtime", "epoch", "ts", "year", "created", "timeset"}
	labelWords  = []string{"label", "labels", "class", "category", "group", "community", "subject", "y", "target", "type", "club", "segment", "cluster", "faction", "department", "outcome"}
	partWords   = []string{"split", "part", "set", "subset", "fold", "partition"}
	idWords     = []string{"id", "ids", "key"}
	indexTitles = []string{"", "unnamed: 0", "index", "row.names", "row_names", "rownames", "level_0"}
)

// words splits a title into words of lower case: at signs and blanks, where a capital follows
// a small letter, and between letters and digits. For example, FromNodeId has three.
func words(title string) []string {
	title = withoutType(title)
	var list []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			list, word = append(list, string(word)), nil
		}
	}
	var before rune
	for _, r := range title {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.IsUpper(r) && unicode.IsLower(before), unicode.IsDigit(r) != unicode.IsDigit(before):
			end()
			word = append(word, unicode.ToLower(r))
		default:
			word = append(word, unicode.ToLower(r))
		}
		before = r
	}
	end()
	return list
}

// roles maps titles of Neo4j to plain titles.
var roles = map[string]string{":START_ID": "start id", ":END_ID": "end id", ":ID": "id", ":LABEL": "label", ":TYPE": "type"}

// withoutType returns a title of Neo4j, "name:type" or "name:ROLE(group)", as a
// plain one.
func withoutType(title string) string {
	at := strings.LastIndexByte(title, ':')
	if at < 0 {
		return title
	}
	role, _, _ := strings.Cut(title[at:], "(")
	if plain, ok := roles[role]; ok {
		return plain
	}
	if at == 0 {
		return title
	}
	return title[:at]
}

// IndexOfPandas begins the names that pandas gives to numbers of rows in Parquet.
const IndexOfPandas = "__index_level_"

// IsIndex reports whether the title of a first column is one of a column of row numbers, or
// empty, as pandas and R write such columns.
func IsIndex(title string) bool {
	return slices.Contains(indexTitles, strings.ToLower(title)) || strings.HasPrefix(title, IndexOfPandas)
}

// anyOf reports whether one of the words of a title is in a list.
func anyOf(words, list []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(list, word) })
}

// IsNode reports whether a title heads a column of nodes.
func IsNode(title string) bool {
	w := words(title)
	return len(w) > 0 && len(w) <= 2 && !slices.ContainsFunc(w, func(word string) bool { return !slices.Contains(nodeWords, word) })
}

// NodeRank returns how well a title names a column of nodes: 0 if it is a word for a node
// or an id alone (node, user_id), 1 if it ends in one for an id (customer_id), 2 if neither.
func NodeRank(title string) int {
	w := words(title)
	switch {
	case IsNode(title):
		return 0
	case len(w) > 0 && slices.Contains(idWords, w[len(w)-1]):
		return 1
	}
	return noRank
}

const noRank = 2

// PartRank returns 0 if a title heads a column with the parts of a split, else 1.
func PartRank(title string) int {
	if w := words(title); len(w) > 0 && slices.Contains(partWords, w[len(w)-1]) {
		return 0
	}
	return 1
}

// IsPart reports whether a title heads a column with the parts of a split.
func IsPart(title string) bool { return PartRank(title) == 0 }

// LabelRank returns the position of a title's last word in the list of words for labels,
// whose first are the surest; [IsLabel] is false for a title without one.
func LabelRank(title string) int { return labelRank(title) }

// ValueRank returns 0 for the title of a column of values, a larger rank for a title of labels, and
// whether the title is one of the two.
func ValueRank(title string) (rank int, is bool) {
	if w := words(title); len(w) > 0 && w[len(w)-1] == "value" {
		return 0, true
	}
	return 1 + labelRank(title), IsLabel(title)
}

// IsLabel reports whether a title heads a column of labels.
func IsLabel(title string) bool { return labelRank(title) < len(labelWords) }

// labelRank returns the position of the last word of a title in the list of words for labels,
// or the length of the list.
func labelRank(title string) int {
	if w := words(title); len(w) > 0 {
		if at := slices.Index(labelWords, w[len(w)-1]); at >= 0 {
			return at
		}
	}
	return len(labelWords)
}

// IsWeight reports whether a title heads a column of weights.
func IsWeight(title string) bool {
	w := words(title)
	return len(w) > 0 && slices.Contains(weightWords, w[len(w)-1])
}

// IsTime reports whether a title heads a column of times.
func IsTime(title string) bool { return anyOf(words(title), timeWords) }

// EdgeColumns holds the columns of a table, from 0, with the ends of an edge and its weight;
// −1 means that there is no such column.
type EdgeColumns struct {
	Source, Target, Weight int
}

// FindEdges finds the columns of an edge's ends and its weight by their titles. Those
// of the ends are found both or neither.
func FindEdges(titles []string) (c EdgeColumns, found bool) {
	c = EdgeColumns{-1, -1, -1}
	all := make([][]string, len(titles))
	for i, title := range titles {
		all[i] = words(title)
	}
	c.Source, c.Target = pairOf(all, ends, func(rest []string) bool { return !anyOf(rest, timeWords) })
	if c.Source < 0 {
		c.Source, c.Target = pairOf(all, numbered, func(rest []string) bool { return anyOf(rest, nodeWords) })
	}
	for rank := len(weightWords); c.Source >= 0 && rank > 0; rank-- {
		for i, w := range all {
			if len(w) > 0 && w[len(w)-1] == weightWords[rank-1] && i != c.Source && i != c.Target {
				c.Weight = i
			}
		}
	}
	return c, c.Source >= 0
}

// pairOf returns the columns whose titles are the same except for one word of a pair, if good
// accepts the words that they share. Among several pairs of columns, that with the shortest
// titles is returned.
func pairOf(titles [][]string, pairs [][2]string, good func(rest []string) bool) (one, two int) {
	one, two = -1, -1
	for _, pair := range pairs {
		for i, title := range titles {
			at := slices.Index(title, pair[0])
			if at < 0 || one >= 0 && len(title) >= len(titles[one]) || !good(slices.Delete(slices.Clone(title), at, at+1)) {
				continue
			}
			other := slices.Clone(title)
			other[at] = pair[1]
			for j := range titles {
				if slices.Equal(titles[j], other) {
					one, two = i, j
				}
			}
		}
	}
	return one, two
}

// FindLabels finds the columns of a node and its label by their titles; −1 for one
// that no title names. A first column without a title holds the nodes if no other
// does.
func FindLabels(titles []string) (node, label int) {
	node, label = -1, -1
	best, bestNode := len(labelWords), noRank
	for i, title := range titles {
		switch rank := NodeRank(title); {
		case labelRank(title) < best:
			label, best = i, labelRank(title)
		case rank < bestNode:
			node, bestNode = i, rank
		}
	}
	if node < 0 && len(titles) > 1 && IsIndex(titles[0]) && label != 0 {
		node = 0
	}
	var rest []int // the other columns, without row numbers
	for i, title := range titles {
		if i != node && i != label && !(i == 0 && IsIndex(title)) {
			rest = append(rest, i)
		}
	}
	switch {
	case len(rest) != 1:
	case node < 0 && label >= 0:
		node = rest[0]
	case label < 0 && node >= 0:
		label = rest[0]
	}
	return node, label
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
		at := slices.Index(titles, field)
		if at < 0 {
			at = slices.IndexFunc(titles, func(title string) bool { return slices.Equal(words(title), words(field)) })
		}
		if at < 0 {
			return nil, fmt.Errorf("the header %s has no column %q", Quote(titles), field)
		}
		if slices.Contains(list, at) {
			return nil, fmt.Errorf("column %q of the header %s is named twice", titles[at], Quote(titles))
		}
		list = append(list, at)
	}
	return list, nil
}

// Numbers reports whether fields are numbers of columns, and no titles.
func Numbers(fields []string) bool {
	return !slices.ContainsFunc(fields, func(field string) bool {
		n, err := strconv.Atoi(field)
		return err != nil || n < 1
	})
}

// QuoteLine writes titles as in a file with the given separator, quoted and cut at 200 bytes.
func QuoteLine(titles []string, sep byte) string {
	const most = 200
	text := strings.Join(titles, string(rune(sep)))
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}

// Quote writes titles as in a file with commas, cut at 200 bytes.
func Quote(titles []string) string {
	const most = 200
	text := strings.Join(titles, ",")
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}

// Unnamed returns the fault and the remedy of a header whose titles name no ends of an edge.
// The remedy is the setting fields, by titles and by numbers.
func Unnamed(titles []string) (msg, fix string) {
	from := 0
	if len(titles) > 2 && IsIndex(titles[0]) {
		from = 1
	}
	msg = fmt.Sprintf("the header %s names no source and target", Quote(titles))
	byNumber := fmt.Sprintf("%d,%d", from+1, from+2)
	byName := titles[from] + "," + titles[from+1]
	if byName == byNumber || strings.ContainsAny(titles[from]+titles[from+1], `, "'${}`+"`") || titles[from] == "" || titles[from+1] == "" {
		return msg, "pass {fields=" + byNumber + "}"
	}
	return msg, fmt.Sprintf("pass {fields=%s} (or {fields=%s})", byName, byNumber)
}

// Report returns the uses of the columns of a table of edges with the given titles. Columns of
// times are ignored with a note, because their numbers could be taken for weights.
func (c EdgeColumns) Report(titles []string) input.Columns {
	report := input.Named(titles)
	for i, title := range titles {
		switch {
		case i == c.Source:
			report[i].Use = input.Source
		case i == c.Target:
			report[i].Use = input.Target
		case i == c.Weight:
			report[i].Use = input.Weight
		case i == 0 && IsIndex(title), strings.HasPrefix(title, IndexOfPandas):
			report[i].Use = input.Index
		case IsTime(title):
			report[i].Note = "times"
		}
	}
	return report
}
