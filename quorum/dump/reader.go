package dump

import (
	"encoding/binary"
	"strconv"
)

// dumpReader reads what is in a dump. It is bad once that is not what it should be, and reads
// nothing but zeros from then on.
type dumpReader struct {
	rest string
	made int // bytes of what was read
	most int // how many there may be
	bad  bool
}

// take reads n bytes of a number.
func (d *dumpReader) take(n int) []byte {
	var b [8]byte
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
	if d.bad || n < 0 || n > len(d.rest) || d.made+n > d.most {
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

// string reads a string, whichever way it is coded.
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
	in := dumpReader{rest: packed, most: len(packed)}
	var out []byte
	for len(in.rest) > 0 && !in.bad && len(out) <= length && length <= d.most-d.made {
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
