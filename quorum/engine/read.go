package engine

// A read asks what a key is: its type, its value if that is a string, and what is left of its ttl. It
// changes nothing, so that nothing follows from it; one that is split is tried once more.

var readKind = kind{alike: true}

func (o *op) readArgv(b []string) []string {
	if o.ValueOnly {
		return append(b, "GET", o.Key)
	}
	return readScript.Call(b, o.Key)
}
