package dump

// SameContents tells that two dumps are of the same, or may be where that cannot be told, or
// that both are of nothing.
func SameContents(a, b string) bool {
	if a == b {
		return true
	}
	if a, b := Contents(a), Contents(b); a != "" && b != "" {
		return a == b
	}
	return SameFootprint(Footprint(a), Footprint(b)) || rearranged(body(a), body(b))
}

// MaybeSame is SameContents where what masters of different versions dump is not looked into.
func MaybeSame(a, b string) bool {
	return a == b || SameFootprint(Footprint(a), Footprint(b)) || SameContents(a, b)
}

// rearranged tells that the contents of two dumps may differ in order alone: they are made
// of the same bytes.
func rearranged(a, b string) bool {
	if len(a) != len(b) || a == "" || a[0] != b[0] || a[0] == 0 {
		return false
	}
	var counts [256]int
	for i := range len(a) {
		counts[a[i]]++
		counts[b[i]]--
	}
	return counts == [256]int{}
}

// Is tells a dump from a hash of one: it ends with a version below 256, and a checksum.
func Is(s string) bool { return len(s) > trailer && s[len(s)-checksumBytes-1] == 0 }

// OwnOrder tells that a master may dump what the key holds otherwise than another one, or
// that it is no more than a string, which is whole in any reply that tells of it.
func OwnOrder(dump string) bool {
	return dump != "" && (dump[0] == 0 || dump[0] == dumpedSet || dump[0] == dumpedHash)
}
