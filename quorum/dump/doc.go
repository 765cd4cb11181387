// Package dump reads what masters DUMP of a key: whether two of them hold the same, though each
// keeps and tells it in its own way, and how to put it back on a master of another version. It
// is pure.
//
// A dump is a body, which begins with a type; the version of its coding in two bytes; and a
// checksum in eight. The body of a string tells enough (dump.go); of what locks are made of
// besides, Contents tells the same text however it is kept (contents.go, reader.go, packed.go, list.go).
// What is known of a long dump is less: its Footprint, or its hash, a Fingerprint (footprint.go).
// What amounts to the same is in dump.go and same.go.
//
//	known for certain   Same, SameValue, SameList
//	or cannot be told   SameContents, MaybeSame, SameFootprint
package dump
