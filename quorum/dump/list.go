package dump

import (
	"encoding/binary"
	"math"
	"strconv"
)

// A list is kept in pieces, which hold some elements each: ziplists, or since 7.0 listpacks, beside
// which a long element is a piece of its own. How they are parted depends on how the list came
// about.

// What a piece of a list is, since 7.0.
const (
	pieceElement  = 1
	pieceListpack = 2
)

// list reads the elements of a list, from its type on.
func (d *dumpReader) list() (list []string) {
	kind := d.byte()
	if kind == dumpedList {
		return d.strings(1)
	}
	for n := d.count(); n > 0 && !d.bad; n-- {
		piece := pieceListpack
		if kind == dumpedListNodes {
			piece, _ = d.length()
		}
		s := d.string()
		if piece == pieceElement {
			list = append(list, s)
			continue
		}
		inside := &dumpReader{rest: s, made: d.made, most: d.most}
		if kind == dumpedListZiplists {
			list = append(list, inside.ziplist()...)
		} else {
			list = append(list, inside.listpack()...)
		}
		d.made = inside.made
		d.bad = d.bad || inside.bad || inside.rest != "" || piece != pieceListpack || len(list) > maxElements
	}
	return list
}

// IsList tells that a dump is a list's.
func IsList(dump string) bool {
	return len(dump) > trailer && (dump[0] == dumpedList || dump[0] == dumpedListZiplists || dump[0] == dumpedListNodes)
}

// OfElements tells that a dump is of a list, a set or a sorted set.
func OfElements(dump string) bool {
	if len(dump) <= trailer {
		return false
	}
	switch dump[0] {
	case dumpedSet, dumpedIntset, dumpedSetListpack, dumpedZset, dumpedZsetZiplist, dumpedZsetListpack:
		return true
	}
	return IsList(dump)
}

// SameList tells that two lists are known to be the same: of long ones, that they are in the same
// pieces.
func SameList(a, b string) bool { return body(a) == body(b) || Same(a, b) }

// plain is a dump of elements as all versions of Redis read it, and keep it in pieces of their own; "" of none, and of what is
// no score.
func plain(kind byte, list []string) string {
	n := len(list)
	if kind == ofHash || kind == ofZset {
		n /= 2
	}
	if n == 0 {
		return ""
	}
	b := appendLength([]byte{map[byte]byte{ofList: dumpedList, ofSet: dumpedSet, ofHash: dumpedHash, ofZset: dumpedZset}[kind]}, n)
	for i, element := range list {
		if kind == ofZset && i%2 == 1 {
			f, err := strconv.ParseFloat(element, 64)
			if err != nil {
				return ""
			}
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
			continue
		}
		b = append(appendLength(b, len(element)), element...)
	}
	return ended(b)
}

func appendLength(b []byte, n int) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0x80), uint32(n))
}
