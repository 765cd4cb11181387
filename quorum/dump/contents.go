package dump

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// What a key holds is dumped by each master as it keeps it: as a table or in one piece,
// compressed or not, a list in pieces of some length, all else in an order of its own. That depends on the version, on the settings
// (hash-max-listpack-value, rdbcompression, …), and on what the key held before. So where
// dumps differ, what they are of is compared.

const (
	// maxDumpRead is how long a dump is read for it, and maxContents how long what it is of
	// may be: more than any lock.
	maxDumpRead = 64 << 10
	maxContents = 1 << 20
)

// The types that a dump begins with, of what locks are made of.
const (
	dumpedString       = 0
	dumpedList         = 1 // element by element
	dumpedSet          = 2 // kept as a table
	dumpedHash         = 4 // likewise
	dumpedZset         = 5
	dumpedIntset       = 11
	dumpedZsetZiplist  = 12
	dumpedHashZiplist  = 13
	dumpedListZiplists = 14
	dumpedHashListpack = 16
	dumpedZsetListpack = 17
	dumpedListNodes    = 18 // listpacks, and long elements by themselves
	dumpedSetListpack  = 20
)

// Contents is what a dump is of, the same for all that is the same. It is "" of what cannot
// be told: another type, or too much.
func Contents(dump string) string {
	kind, list := elements(dump)
	if kind == unknown {
		return ""
	}
	if kind == ofHash || kind == ofZset {
		list = paired(list)
	}
	if kind != ofList {
		slices.Sort(list)
	}
	told := []byte{kind}
	for _, s := range list {
		told = append(strconv.AppendInt(told, int64(len(s)), 10), ':')
		told = append(told, s...)
	}
	return string(told)
}

// What elements are of.
const (
	unknown  = '?'
	ofString = '$'
	ofList   = 'l'
	ofSet    = 's'
	ofHash   = 'h' // fields and values
	ofZset   = 'z' // members and scores
)

// elements are those of a dump, in the order in which they stand there.
func elements(dump string) (kind byte, list []string) {
	if len(dump) <= trailer || len(dump) > maxDumpRead {
		return unknown, nil
	}
	d := &dumpReader{rest: body(dump), most: maxContents}
	kind = unknown
	switch d.byte() {
	case dumpedString:
		kind, list = ofString, []string{d.string()}
	case dumpedList, dumpedListZiplists, dumpedListNodes:
		d.rest = body(dump)
		kind, list = ofList, d.list()
	case dumpedSet:
		kind, list = ofSet, d.strings(1)
	case dumpedHash:
		kind, list = ofHash, d.strings(2)
	case dumpedZset:
		kind = ofZset
		for range d.count() {
			member := d.string()
			list = append(list, member, score(math.Float64frombits(binary.LittleEndian.Uint64(d.take(8)))))
		}
	case dumpedIntset:
		kind, list = ofSet, d.inside().intset()
	case dumpedSetListpack:
		kind, list = ofSet, d.inside().listpack()
	case dumpedHashZiplist:
		kind, list = ofHash, d.inside().ziplist()
	case dumpedHashListpack:
		kind, list = ofHash, d.inside().listpack()
	case dumpedZsetZiplist:
		kind, list = ofZset, scored(d.inside().ziplist())
	case dumpedZsetListpack:
		kind, list = ofZset, scored(d.inside().listpack())
	}
	if d.bad || len(d.rest) > 0 || (kind == ofHash || kind == ofZset) && len(list)%2 != 0 {
		return unknown, nil
	}
	return kind, list
}

// score is that of a member of a sorted set.
func score(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// scored spells the scores of members and scores alike.
func scored(list []string) []string {
	for i := 1; i < len(list); i += 2 {
		if f, err := strconv.ParseFloat(list[i], 64); err == nil {
			list[i] = score(f)
		}
	}
	return list
}
