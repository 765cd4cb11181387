package dump

import (
	"cmp"
	"encoding/binary"
	"hash/crc64"
)

// What a dump ends with: the version of its coding, and a checksum of all before.
const (
	versionBytes  = 2
	checksumBytes = 8
	trailer       = versionBytes + checksumBytes
)

// oldestVersion is the newest coding that Redis 6.2 reads. Strings have been coded alike
// ever since.
const oldestVersion = 9

// Value is the body of a string's dump, which all versions of Redis tell alike; "" of anything
// else.
func Value(dump string) string {
	if len(dump) <= trailer || dump[0] != 0 {
		return ""
	}
	return dump[:len(dump)-trailer]
}

// body is a dump without its own version and checksum.
func body(dump string) string { return dump[:max(0, len(dump)-trailer)] }

// Same tells that two masters are known to have dumped the same.
func Same(a, b string) bool {
	if a == b || Value(a) != "" && Value(a) == Value(b) {
		return true
	}
	told := Contents(a)
	return told != "" && told == Contents(b)
}

// SameValue is Same of strings, of which Value is known.
func SameValue(a, b string) bool {
	if a == b {
		return true
	}
	trailer := string(make([]byte, trailer))
	return a != "" && b != "" && Same(a+trailer, b+trailer)
}

// ReadableBy tells that a master reads a dump of which there are dumps of its own.
func ReadableBy(dump string, its ...string) bool {
	newest := uint16(oldestVersion)
	for _, own := range its {
		newest = max(newest, version(own))
	}
	return version(dump) <= newest
}

// version is that of the coding of a dump, 0 of none.
func version(dump string) uint16 {
	if len(dump) <= trailer {
		return 0
	}
	return binary.LittleEndian.Uint16([]byte(dump[len(dump)-trailer:]))
}

// Readable is a dump as a master of any version reads it, if it is a string's, or of elements that are
// not many: those are told one by one, as all versions of Redis read them.
func Readable(dump string) string {
	if version(dump) <= oldestVersion {
		return dump
	}
	if dump[0] == dumpedString {
		return ended([]byte(Value(dump)))
	}
	return cmp.Or(plain(elements(dump)), dump)
}

// ended is a dump of a body, which the oldest version reads.
func ended(b []byte) string {
	b = binary.LittleEndian.AppendUint16(b, oldestVersion)
	return string(binary.LittleEndian.AppendUint64(b, ^crc64.Update(^uint64(0), jones, b)))
}

// jones is the checksum's polynomial. Redis inverts neither before nor after.
var jones = crc64.MakeTable(0x95ac9329ac4bc9b5)
