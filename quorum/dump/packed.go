package dump

import "strconv"

// What is small a master keeps in one piece of memory, which stands in the dump as a string:
// an intset holds numbers of one width, a ziplist, or since 7.0 a listpack, whatever there is.

// intset reads the members of a set of numbers.
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

// maxElements bounds what is read of one piece.
const maxElements = 1 << 16

// listpack reads its entries.
func (d *dumpReader) listpack() (list []string) {
	d.cut(6) // how long it is, and of how many
	for !d.bad && len(list) < maxElements {
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
	d.bad = true
	return nil
}

// ziplist reads its entries.
func (d *dumpReader) ziplist() (list []string) {
	d.cut(10) // how long it is, where its end is, and of how many
	for !d.bad && len(list) < maxElements {
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
	d.bad = true
	return nil
}
