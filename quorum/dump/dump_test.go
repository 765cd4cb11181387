package dump

import "testing"

// What Redis 6.2.14, 7.0.15 and 8.2.3 dump of a number and of a token.
func TestDumpsOfStringsAreReadByMastersOfAnyVersion(t *testing.T) {
	for _, dumps := range [][3]string{
		{"\x00\xc0\x11\t\x004\xf1x\x89hrH\xad", "\x00\xc0\x11\n\x00\xe4\x03)E<\xf4+\x1c", "\x00\xc0\x11\x0c\x00/u\x1d\x85\xc6\xde\xb5U"},
		{"\x00\x05token\t\x00k8\xa4\x90\xa3X\xdb\xba", "\x00\x05token\n\x00\xbb\xca\xf5\\\xf7\xde\xb8\x0b", "\x00\x05token\x0c\x00p\xbc\xc1\x9c\r\xf4&B"},
	} {
		for _, dump := range dumps {
			if got := Readable(dump); got != dumps[0] {
				t.Errorf("%q is made %q, want %q", dump, got, dumps[0])
			}
			if !Same(dump, dumps[1]) {
				t.Errorf("%q and %q are not the same", dump, dumps[1])
			}
		}
	}
	hash := "\x10\x0f\x0f\x00\x00\x00\x02\x00\x81f\x02\x81v\x02\xff\x0a\x00checksum"
	if Value(Readable(hash)) != "" || Same(hash, hash[:len(hash)-1]+"x") {
		t.Error("a hash is taken for a string")
	}
	if Same("", hash) || !Same("", "") || Readable("") != "" {
		t.Error("nothing is taken for something")
	}
}
