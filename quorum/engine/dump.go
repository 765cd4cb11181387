package engine

import (
	"encoding/binary"
	"hash/crc64"
)

// What a dump ends with: the version of its coding, and a checksum of all before.
const (
	dumpVersion  = 2
	dumpChecksum = 8
	dumpEnding   = dumpVersion + dumpChecksum
)

// oldestVersion is the newest coding that Redis 6.2 reads. Strings have been coded alike
// ever since.
const oldestVersion = 9

// dumped is the content of a dump, as far as all versions of Redis tell it alike: a
// string's without the dump's own version and checksum.
func dumped(dump string) string {
	if len(dump) <= dumpEnding || dump[0] != 0 {
		return ""
	}
	return dump[:len(dump)-dumpEnding]
}

// content is a dump without its own version and checksum.
func content(dump string) string { return dump[:max(0, len(dump)-dumpEnding)] }

// sameDump tells that two masters are known to have dumped the same.
func sameDump(a, b string) bool {
	if a == b || dumped(a) != "" && dumped(a) == dumped(b) {
		return true
	}
	told := contents(a)
	return told != "" && told == contents(b)
}

// sameDumped is sameDump of strings, of which dumped is known.
func sameDumped(a, b string) bool {
	if a == b {
		return true
	}
	ending := string(make([]byte, dumpEnding))
	return a != "" && b != "" && sameDump(a+ending, b+ending)
}

// readable is a dump as a master of any version reads it, if it is a string's.
func readable(dump string) string {
	content := dumped(dump)
	if content == "" || binary.LittleEndian.Uint16([]byte(dump[len(content):])) <= oldestVersion {
		return dump
	}
	b := binary.LittleEndian.AppendUint16([]byte(content), oldestVersion)
	return string(binary.LittleEndian.AppendUint64(b, ^crc64.Update(^uint64(0), jones, b)))
}

// jones is the checksum's polynomial. Redis inverts neither before nor after.
var jones = crc64.MakeTable(0x95ac9329ac4bc9b5)
