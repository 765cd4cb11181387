package dump

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// What a key holds is dumped by each master as it keeps it: as a table or in one piece,
// compressed or not, in an order of its own. That depends on the version, on the settings
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
	dumpedSet          = 2 // kept as a table
	dumpedHash         = 4 // likewise
	dumpedZset         = 5
	dumpedIntset       = 11
	dumpedZsetZiplist  = 12
	dumpedHashZiplist  = 13
	dumpedHashListpack = 16
	dumpedZsetListpack = 17
	dumpedSetListpack  = 20
)

// Contents is what a dump is of, the same for all that is the same. It is "" of what cannot
// be told: another type, or too much.
func Contents(dump string) string {
	if len(dump) <= ending || len(dump) > maxDumpRead {
		return ""
	}
	d := &dumpReader{rest: content(dump)}
	kind, list := byte('?'), []string(nil)
	switch d.byte() {
	case dumpedString:
		kind, list = '$', []string{d.string()}
	case dumpedSet:
		kind, list = 's', d.strings(1)
	case dumpedHash:
		kind, list = 'h', d.strings(2)
	case dumpedZset:
		kind = 'z'
		for range d.count() {
			member := d.string()
			list = append(list, member, score(math.Float64frombits(binary.LittleEndian.Uint64(d.take(8)))))
		}
	case dumpedIntset:
		kind, list = 's', d.inside().intset()
	case dumpedSetListpack:
		kind, list = 's', d.inside().listpack()
	case dumpedHashZiplist:
		kind, list = 'h', d.inside().ziplist()
	case dumpedHashListpack:
		kind, list = 'h', d.inside().listpack()
	case dumpedZsetZiplist:
		kind, list = 'z', scored(d.inside().ziplist())
	case dumpedZsetListpack:
		kind, list = 'z', scored(d.inside().listpack())
	}
	paired := kind == 'h' || kind == 'z'
	if d.bad || kind == '?' || len(d.rest) > 0 || paired && len(list)%2 != 0 {
		return ""
	}
	if paired {
		for i := range len(list) / 2 {
			list[i] = strconv.Itoa(len(list[2*i])) + ":" + list[2*i] + list[2*i+1]
		}
		list = list[:len(list)/2]
	}
	slices.Sort(list)
	told := []byte{kind}
	for _, s := range list {
		told = append(strconv.AppendInt(told, int64(len(s)), 10), ':')
		told = append(told, s...)
	}
	return string(told)
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

// dumpReader reads what is in a dump. It is bad once that is not what it should be, and reads
// nothing but zeros from then on.
type dumpReader struct {
	rest string
	made int // bytes of what was read
	bad  bool
}

var zeros [8]byte

// take reads n bytes of a number.
func (d *dumpReader) take(n int) []byte {
	b := zeros
	if s := d.cut(n); len(s) == n {
		copy(b[:], s)
	}
	return b[:]
}

func (d *dumpReader) byte() byte { return d.take(1)[0] }

// little and big read an unsigned number of n bytes.
func (d *dumpReader) little(n int) uint64 { return binary.LittleEndian.Uint64(d.take(n)) }

func (d *dumpReader) big(n int) uint64 { return binary.BigEndian.Uint64(d.take(n)) >> (8 * (8 - n)) }

// integer reads a signed number of n bytes, the least first.
func (d *dumpReader) integer(n int) string {
	shift := 8 * (8 - n)
	return strconv.FormatInt(int64(d.little(n))<<shift>>shift, 10)
}

// cut reads n bytes.
func (d *dumpReader) cut(n int) string {
	if d.bad || n < 0 || n > len(d.rest) || d.made+n > maxContents {
		d.bad = true
		return ""
	}
	s := d.rest[:n]
	d.rest, d.made = d.rest[n:], d.made+n
	return s
}

// length reads a length, or how a string is coded that has none.
func (d *dumpReader) length() (n int, coded bool) {
	switch b := d.byte(); b >> 6 {
	case 0:
		return int(b), false
	case 1:
		return int(b&0x3f)<<8 | int(d.byte()), false
	case 2:
		if b == 0x80 {
			return int(d.big(4)), false
		}
		d.bad = true // longer than anything that is read
		return 0, false
	default:
		return int(b & 0x3f), true
	}
}

// count reads how many there are.
func (d *dumpReader) count() int {
	n, coded := d.length()
	if coded || n > len(d.rest) {
		d.bad = true
		return 0
	}
	return n
}

func (d *dumpReader) string() string {
	n, coded := d.length()
	switch {
	case !coded:
		return d.cut(n)
	case n < 3:
		return d.integer(1 << n)
	case n == 3:
		packed, _ := d.length()
		length, _ := d.length()
		return d.unpack(d.cut(packed), length)
	}
	d.bad = true
	return ""
}

// strings reads so many for each that there are.
func (d *dumpReader) strings(each int) (list []string) {
	for range d.count() * each {
		list = append(list, d.string())
	}
	return list
}

// inside reads a string, and is what reads what is in there.
func (d *dumpReader) inside() *dumpReader {
	s := d.string()
	d.rest = s + d.rest
	return d
}

// unpack is what was compressed by LZF, of a length.
func (d *dumpReader) unpack(packed string, length int) string {
	in := dumpReader{rest: packed}
	var out []byte
	for len(in.rest) > 0 && !in.bad && len(out) <= length && length <= maxContents-d.made {
		control := int(in.byte())
		if control < 32 {
			out = append(out, in.cut(control+1)...)
			continue
		}
		n := control >> 5
		if n == 7 {
			n += int(in.byte())
		}
		from := len(out) - (control&0x1f)<<8 - int(in.byte()) - 1
		if from < 0 || len(out)+n+2 > length {
			in.bad = true
			break
		}
		for i := range n + 2 { // what is copied may be what is made
			out = append(out, out[from+i])
		}
	}
	if d.made += length; in.bad || len(out) != length {
		d.bad = true
		return ""
	}
	return string(out)
}

func (d *dumpReader) intset() (list []string) {
	size, n := int(d.little(4)), int(d.little(4))
	if size != 2 && size != 4 && size != 8 || n*size != len(d.rest) {
		d.bad = true
		return nil
	}
	for range n {
		list = append(list, d.integer(size))
	}
	return list
}

func (d *dumpReader) listpack() (list []string) {
	d.cut(6) // how long it is, and of how many
	for !d.bad {
		before := len(d.rest)
		var s string
		switch b := d.byte(); {
		case b < 0x80:
			s = strconv.Itoa(int(b))
		case b < 0xc0:
			s = d.cut(int(b & 0x3f))
		case b < 0xe0:
			s = strconv.Itoa(int(int16(uint16(b&0x1f)<<8|uint16(d.byte()))<<3) >> 3)
		case b < 0xf0:
			s = d.cut(int(b&0x0f)<<8 | int(d.byte()))
		case b == 0xf0:
			s = d.cut(int(d.little(4)))
		case b == 0xf1, b == 0xf2, b == 0xf3:
			s = d.integer(int(b-0xf1) + 2)
		case b == 0xf4:
			s = d.integer(8)
		case b == 0xff:
			return list
		default:
			d.bad = true
		}
		list = append(list, s)
		// How long it was follows.
		n := before - len(d.rest)
		d.byte()
		for _, least := range []int{128, 16383, 2097151} {
			if n >= least {
				d.byte()
			}
		}
	}
	return nil
}

func (d *dumpReader) ziplist() (list []string) {
	d.cut(10) // how long it is, where its end is, and of how many
	for !d.bad {
		switch d.byte() { // how long the one before was
		case 0xff:
			return list
		case 0xfe:
			d.cut(4)
		}
		var s string
		switch b := d.byte(); {
		case b < 0x40:
			s = d.cut(int(b))
		case b < 0x80:
			s = d.cut(int(b&0x3f)<<8 | int(d.byte()))
		case b == 0x80:
			s = d.cut(int(d.big(4)))
		case b == 0xc0:
			s = d.integer(2)
		case b == 0xd0:
			s = d.integer(4)
		case b == 0xe0:
			s = d.integer(8)
		case b == 0xf0:
			s = d.integer(3)
		case b == 0xfe:
			s = d.integer(1)
		case b > 0xf0 && b < 0xfe:
			s = strconv.Itoa(int(b&0x0f) - 1)
		default:
			d.bad = true
		}
		list = append(list, s)
	}
	return nil
}
