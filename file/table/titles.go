package table

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

const (
	idTitle   = "id"
	nameTitle = "name"
)

// titlesFile lists the titles of every role, one role on each line.
//
//go:embed titles.txt
var titlesFile string

// titleRoles maps a title, in the form of plainTitle, to its roles.
var titleRoles = sync.OnceValue(func() map[string][]string {
	roles := map[string][]string{}
	for line := range strings.Lines(titlesFile) {
		fields := strings.Fields(line)
		for _, title := range fields[1:] {
			roles[title] = append(roles[title], fields[0])
		}
	}
	return roles
})

var titleMarks = strings.NewReplacer("-", "", "_", "", " ", "")

func plainTitle(title string) string {
	return titleMarks.Replace(strings.ToLower(title))
}

// typesOfNeo4j are the types of columns in headers of Neo4j. The types of columns of ids are in titles.txt.
var typesOfNeo4j = strings.Fields("int long float double boolean byte short char string point date localtime time localdatetime datetime duration vector ignore")

// rolesOf returns the roles of a title in titles.txt. It also knows Neo4j's titles name:type, by the name, and
// name:ROLE(group), by the role. Other texts with a colon, such as source:1, have no role.
func rolesOf(title string) []string {
	plain := plainTitle(title)
	for _, form := range []string{title, plain} {
		if roles := titleRoles()[form]; roles != nil {
			return roles
		}
	}
	colon := strings.LastIndexByte(plain, ':')
	if colon < 0 {
		return nil
	}
	role, _, _ := strings.Cut(plain[colon:], "(")
	if roles := titleRoles()[role]; roles != nil {
		return roles
	}
	kind, _, _ := strings.Cut(plain[colon+1:], "{")
	if !slices.Contains(typesOfNeo4j, strings.TrimSuffix(kind, "[]")) {
		return nil
	}
	return titleRoles()[plain[:colon]]
}

func hasRole(title string, roles ...string) bool {
	return slices.ContainsFunc(rolesOf(title), func(role string) bool { return slices.Contains(roles, role) })
}

// mayBeID reports whether a title may also be an id: it is a single letter or ends in a digit.
func mayBeID(title string) bool {
	last := len(title) - 1
	return last <= 0 || title[last]-'0' <= 9
}

// numberedPair returns the columns of the only two titles such as node1 and node2, or −1. If there is a node3, they are
// the titles of a matrix.
func numberedPair(titles []string) (first, second int) {
	first = -1
	second = -1
	for i, title := range titles {
		stem, isFirst := strings.CutSuffix(plainTitle(title), "1")
		partner := slices.IndexFunc(titles, func(other string) bool { return plainTitle(other) == stem+"2" })
		if !isFirst || !isWord(stem) || partner < 0 {
			continue
		}
		isThird := func(other string) bool { return plainTitle(other) == stem+"3" }
		if first >= 0 || slices.ContainsFunc(titles, isThird) {
			return -1, -1
		}
		first = i
		second = partner
	}
	return first, second
}

// Ends returns the columns with titles of the ends of an edge, or −1 twice if there is not exactly one column for
// each end.
func Ends(titles []string) (source, target int) {
	sources := withTitle(titles, edgeRoles[0].titles)
	targets := withTitle(titles, edgeRoles[1].titles)
	switch {
	case len(sources) == 1 && len(targets) == 1:
		return sources[0], targets[0]
	case len(sources)+len(targets) == 0:
		return numberedPair(titles)
	}
	return -1, -1
}

// NamesEnds reports whether titles name the ends of an edge.
func NamesEnds(titles []string) bool {
	source, _ := Ends(titles)
	return source >= 0
}

// IsNode reports whether a title names a column of nodes.
func IsNode(title string) bool { return hasRole(title, input.Node, idTitle) }

// IsLabel reports whether a title names a column of labels.
func IsLabel(title string) bool { return withTitle([]string{title}, valueTitles[input.Label]) != nil }

func withTitle(titles, groups []string) (columns []int) {
	for _, group := range groups {
		for i, title := range titles {
			if hasRole(title, strings.Fields(group)...) {
				columns = append(columns, i)
			}
		}
		if columns != nil {
			break
		}
	}
	return columns
}

// FindLabel returns the column with a title of the label, or −1.
func FindLabel(titles []string) int {
	if columns := withTitle(titles, valueTitles[input.Label]); len(columns) == 1 {
		return columns[0]
	}
	return -1
}

// IndexOfPandas begins the names of columns of row numbers that pandas writes in Parquet.
const IndexOfPandas = "__index_level_"

// IsIndex reports whether pandas or R gives the title to a first column of row numbers.
func IsIndex(title string) bool {
	return title == "" || title == "Unnamed: 0" || strings.HasPrefix(title, IndexOfPandas)
}

// Find returns the columns, from 0, that fields names in a table of n columns. If all fields are whole numbers above
// 0, they are numbers of columns, from 1; otherwise they are titles.
func Find(fields, titles []string, n int) ([]int, error) {
	var list []int
	for _, field := range fields {
		column := slices.Index(titles, field)
		if Numbers(fields) {
			number, _ := strconv.Atoi(field)
			column = number - 1
		} else if column < 0 {
			column = slices.IndexFunc(titles, func(title string) bool { return plainTitle(title) == plainTitle(field) })
		}
		switch {
		case column < 0:
			header := strings.Join(titles, ",")
			return nil, fmt.Errorf("the header %q has no column %q", header[:min(len(header), 200)], field)
		case column >= n:
			return nil, fmt.Errorf("%s, but column %d was requested", words.Counted(n, "column"), column+1)
		case slices.Contains(list, column):
			return nil, fmt.Errorf("column %q is named twice", field)
		}
		list = append(list, column)
	}
	return list, nil
}

// Numbers reports whether all fields are numbers of columns, from 1.
func Numbers(fields []string) bool {
	return all(fields, func(field string) bool {
		n, err := strconv.Atoi(field)
		return err == nil && n > 0
	})
}

// FieldList returns columns as the value of an option: titles if they need no quotes, otherwise numbers from 1.
// Column −1 becomes an empty element.
func FieldList(titles []string, columns ...int) string {
	var names, numbers []string
	isPlain := true
	for _, i := range columns {
		if i < 0 {
			names = append(names, "")
			numbers = append(numbers, "")
			continue
		}
		title := titles[i]
		names = append(names, title)
		numbers = append(numbers, strconv.Itoa(i+1))
		isRepeated := slices.Index(titles, title) != i || slices.Contains(titles[i+1:], title)
		isPlain = isPlain && !isRepeated && title != "" && !IsNumber(title) &&
			!strings.ContainsAny(title, ", \t\"'${}`\\*?!&|;<>()#~") && input.Escape(title) == title && len(title) <= 60
	}
	if isPlain {
		return strings.Join(names, ",")
	}
	return strings.Join(numbers, ",")
}
