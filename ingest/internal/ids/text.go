package ids

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/heatwalk/heatwalk/ingest/internal/sort"
)

// sortWord is how many bytes of ids are sorted at once, and fewIDs how many ids
// are rather compared.
const (
	sortWord = 8
	fewIDs   = 32
)

// SortText sorts places by the bytes of their ids: by radix on the first eight of
// them, then those that agree on the next eight, and so on. Ids of many come
// without a cache miss for each comparison; it takes 24 bytes for each.
func SortText(places []uint32, id func(place uint32) []byte) {
	s := idSorter{id: id, words: make([]uint64, len(places)),
		spareWords: make([]uint64, len(places)), spare: make([]uint32, len(places))}
	s.sort(places, 0)
}

type idSorter struct {
	id                func(place uint32) []byte
	words, spareWords []uint64
	spare             []uint32
}

// sort sorts places whose ids agree in the bytes before offset.
func (s *idSorter) sort(places []uint32, offset int) {
	if len(places) <= fewIDs {
		slices.SortFunc(places,
			func(a, b uint32) int { return bytes.Compare(s.id(a)[offset:], s.id(b)[offset:]) })
		return
	}
	n := len(places)
	words := s.words[:n]
	for i, place := range places {
		words[i] = wordOf(s.id(place)[offset:])
	}
	words, sorted := sort.Radix(words, s.spareWords[:n], places, s.spare[:n], 0,
		8*sortWord)
	copy(places, sorted)
	// Where words agree, ids that end within them are in the order of their
	// lengths, and before all that go on.
	var runs []int // ends of ids that agree and go on, with their starts
	for lo, hi := 0, 0; lo < n; lo = hi {
		for hi = lo + 1; hi < n && words[hi] == words[lo]; hi++ {
		}
		if hi > lo+1 {
			runs = append(runs, lo, hi)
		}
	}
	for i := 0; i < len(runs); i += 2 {
		run := places[runs[i]:runs[i+1]]
		ended := 0
		for k, place := range run {
			if len(s.id(place)) <= offset+sortWord {
				run[k] = run[ended]
				run[ended] = place
				ended++
			}
		}
		slices.SortFunc(run[:ended],
			func(a, b uint32) int { return len(s.id(a)) - len(s.id(b)) })
		s.sort(run[ended:], offset+sortWord)
	}
}

// wordOf returns the first eight bytes of a text as a number that is in their
// order, with zeros behind its end.
func wordOf(text []byte) uint64 {
	if len(text) >= sortWord {
		return binary.BigEndian.Uint64(text)
	}
	var word uint64
	for i, c := range text {
		word |= uint64(c) << (56 - 8*i)
	}
	return word
}
