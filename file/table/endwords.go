package table

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/heatwalk/heatwalk/file/input"
)

// splitTitle returns the words of a title in lower case: sender and account for Sender_account and senderAccount.
func splitTitle(title string) []string {
	var b strings.Builder
	wasLower := false
	for _, r := range title {
		if unicode.IsUpper(r) && wasLower {
			b.WriteByte(' ')
		}
		wasLower = unicode.IsLower(r)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// nouns are words of titles of ids beside the word of an end, as in sender_account. Other words, as in from_date, may
// name values.
var nouns = strings.Fields("account acct iban id number no name user username node customer client person party entity company address email phone ip host url page station airport konto kontonummer kunde compte cuenta")

// endWords are further words of ends. They count beside a noun alone, because debit amount and credit amount are no ends.
var endWords = map[string]string{
	"orig": input.Source, "debit": input.Source, "soll": input.Source, "von": input.Source, "absender": input.Source, "auftraggeber": input.Source, "belastung": input.Source,
	"dest": input.Target, "credit": input.Target, "haben": input.Target, "an": input.Target, "empfänger": input.Target, "gutschrift": input.Target,
}

// endOf returns the role, source or target, of the only word of a title that has one, and the other words, of which
// there must be at least one. Otherwise the role is "".
func endOf(title string) (role string, others []string) {
	isFurther := false
	for _, word := range splitTitle(title) {
		end := endWords[word]
		isFurther = isFurther || end != ""
		for _, use := range []string{input.Source, input.Target} {
			if slices.Contains(titleRoles()[word], use) {
				end = use
			}
		}
		switch {
		case end == "":
			others = append(others, word)
		case role != "":
			return "", nil
		default:
			role = end
		}
	}
	isNoun := func(word string) bool { return slices.Contains(nouns, word) }
	if others == nil || isFurther && !slices.ContainsFunc(others, isNoun) {
		return "", nil
	}
	return role, others
}

// wordPairs returns the pairs of columns whose titles have a word of an end each and the same other words, as in
// sender_account and receiver_account. Pairs with an earlier word of the list nouns come first; areNamed is the number
// of pairs with such a word.
func wordPairs(titles []string) (pairs [][2]int, areNamed int) {
	rank := func(pair [2]int) int {
		_, others := endOf(titles[pair[0]])
		best := len(nouns)
		for i, noun := range nouns {
			if slices.Contains(others, noun) {
				best = min(best, i)
			}
		}
		return best
	}
	for i, title := range titles {
		role, others := endOf(title)
		if role != input.Source {
			continue
		}
		for j, partner := range titles {
			if role, words := endOf(partner); role == input.Target && slices.Equal(words, others) {
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b [2]int) int { return rank(a) - rank(b) })
	for _, pair := range pairs {
		if rank(pair) < len(nouns) {
			areNamed++
		}
	}
	return pairs, areNamed
}

// AreEnds reports whether two titles name the ends of an edge, alone or with the same other words.
func AreEnds(source, target string) bool {
	pairs, _ := wordPairs([]string{source, target})
	return NamesEnds([]string{source, target}) || len(pairs) > 0
}

// relatives are words of titles that name a node by its relation to another one of its kind, as in user_id,friend_id.
var relatives = strings.Fields("friend contact neighbor neighbour peer partner parent child mother father spouse follower followee following followed coauthor colleague manager boss referrer referred inviter invited mentioned cited citing related other linked")

// areRelatives reports whether two titles have a word in common other than id, as protein_a and protein_b have, or one has a word of
// relatives.
func areRelatives(source, target string) bool {
	words := splitTitle(source)
	return slices.ContainsFunc(splitTitle(target), func(word string) bool {
		return slices.Contains(words, word) && word != "id" && word != "no" && word != "number" && word != "key" || slices.Contains(relatives, word)
	}) || slices.ContainsFunc(words, func(word string) bool { return slices.Contains(relatives, word) })
}

// AreKinds reports whether two columns of a table with a header may number two kinds of nodes, as user_id and item_id
// or card and merchant: they have whole numbers, titles that name neither ends nor relatives, and both titles end in id or both columns
// count from 0 or 1 on.
func AreKinds(s *Sample, source, target int) bool {
	titles := [2]string{s.Titles[source], s.Titles[target]}
	isMeant := func(title string) bool { return len(title) > 1 && !strings.ContainsAny(title, "0123456789") }
	isKey := func(title string) bool { return strings.HasSuffix(strings.ToLower(title), "id") }
	countsFromOne := func(column int) bool {
		const share = 20 // the smallest of some numbers from 1 to n is a small part of n
		low := math.Inf(1)
		high := math.Inf(-1)
		for _, text := range s.Values(column) {
			n, _ := ParseNumber([]byte(text), 64)
			low = min(low, n)
			high = max(high, n)
		}
		return low >= 0 && low <= max(1, high/share)
	}
	return isMeant(titles[0]) && isMeant(titles[1]) && !AreEnds(titles[0], titles[1]) && !areRelatives(titles[0], titles[1]) &&
		HasIntegers(s, source, true) && HasIntegers(s, target, true) &&
		(isKey(titles[0]) && isKey(titles[1]) || countsFromOne(source) && countsFromOne(target))
}
