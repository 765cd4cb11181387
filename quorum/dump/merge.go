package dump

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Merged is what so many of some dumps agree on, element by element: each element of a list, as often as so many have it,
// each member of a set, and each field or member with its value. "" is nothing, in and out, and so is what is of another type
// than that of so many. It is not ok where that cannot
// be told: of strings, of several types, or of much; nor where something would be gone that nobody has deleted, as so many
// have a field, each with another value, or all have an equally long list, and a longer one: each may have another element in a
// place. Of lists of several lengths each is longer by what was pushed, or not popped, there alone.
func Merged(dumps []string, quorum int) (merged string, ok bool) {
	kind, lists, ok := ofOneType(dumps, quorum)
	if !ok {
		return "", false
	}
	kept := agreed(lists, quorum)
	if kind == ofHash || kind == ofZset {
		names := make(map[string]bool)
		for pair := range kept {
			names[nameOf(pair)] = true
		}
		for name := range agreed(named(lists), quorum) {
			if !names[name] {
				return "", false
			}
		}
	}
	together := ordered(lists, kept)
	if n := len(lists[0]); kind == ofList && n > len(together) && !slices.ContainsFunc(lists, func(list []string) bool { return len(list) != n }) {
		return "", false
	}
	if kind == ofHash || kind == ofZset {
		together = parted(together)
	}
	return plain(kind, together), true
}

// ofOneType is the elements of each dump, and their type. What is of another one than so many are has none.
func ofOneType(dumps []string, quorum int) (kind byte, lists [][]string, ok bool) {
	types, of := make([]byte, len(dumps)), make(map[byte]int)
	lists = make([][]string, len(dumps))
	for i, dump := range dumps {
		if dump == "" {
			continue
		}
		types[i], lists[i] = elements(dump)
		if of[types[i]]++; of[types[i]] > of[kind] {
			kind = types[i]
		}
	}
	if len(of) == 0 || kind == ofString || of[unknown] > 0 || len(of) > 1 && of[kind] < quorum {
		return kind, nil, false
	}
	for i := range lists {
		switch {
		case types[i] != kind:
			lists[i] = nil
		case kind == ofHash || kind == ofZset:
			lists[i] = paired(lists[i])
		}
	}
	return kind, lists, true
}

// paired has each field and its value be one element; the length of the field stands before.
func paired(list []string) (pairs []string) {
	for pair := range slices.Chunk(list, 2) {
		pairs = append(pairs, strconv.Itoa(len(pair[0]))+":"+pair[0]+pair[1])
	}
	return pairs
}

func parted(pairs []string) (list []string) {
	for _, pair := range pairs {
		name := nameOf(pair)
		list = append(list, name, pair[len(strconv.Itoa(len(name)))+1+len(name):])
	}
	return list
}

// nameOf is the field, or member, of a pair.
func nameOf(pair string) string {
	length, rest, _ := strings.Cut(pair, ":")
	n, _ := strconv.Atoi(length)
	return rest[:n]
}

// named are lists of pairs without their values.
func named(lists [][]string) (names [][]string) {
	for _, list := range lists {
		var those []string
		for _, pair := range list {
			those = append(those, nameOf(pair))
		}
		names = append(names, those)
	}
	return names
}

// agreed is how often each element is in so many of the lists.
func agreed(lists [][]string, quorum int) map[string]int {
	counts := make(map[string][]int) // of each list that has it
	for _, list := range lists {
		here := make(map[string]int)
		for _, element := range list {
			here[element]++
		}
		for element, n := range here {
			counts[element] = append(counts[element], n)
		}
	}
	kept := make(map[string]int)
	for element, of := range counts {
		if len(of) >= quorum {
			slices.Sort(of)
			kept[element] = of[len(of)-quorum]
		}
	}
	return kept
}

// ordered is what is kept, in the order that the lists have it: that of the longest, once all else is taken out of it, or of
// most of those that are as long, and then of the others.
func ordered(lists [][]string, kept map[string]int) (together []string) {
	lists = slices.Clone(lists)
	for i, list := range lists {
		lists[i] = inserted(nil, list, kept)
	}
	alike := func(of []string) (n int) {
		for _, list := range lists {
			if slices.Equal(list, of) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(lists, func(a, b []string) int {
		return cmp.Or(len(b)-len(a), alike(b)-alike(a))
	})
	for _, list := range lists {
		together = inserted(together, list, kept)
	}
	return together
}

// inserted takes what is kept of a list, and not in another yet, into that: behind what is before it in its own.
func inserted(into, list []string, kept map[string]int) []string {
	there := make(map[string]int)
	for _, element := range into {
		there[element]++
	}
	seen, at := make(map[string]int), 0
	for _, element := range list {
		if seen[element]++; seen[element] > kept[element] {
			continue
		}
		if seen[element] > there[element] {
			into = slices.Insert(into, at, element)
			there[element]++
			at++
		} else if i := slices.Index(into[at:], element); i >= 0 {
			at += i + 1
		}
	}
	return into
}
