package quorum

import (
	"strings"

	"redlock-proxy/quorum/marker"
)

// Among the locks of its clients the proxy keeps keys of its own on the masters.
// They are out of the clients' sight and reach: no command names one, and none is
// listed or counted.

// private is what their names begin with.
const private = "redlock-proxy:{"

// MarkerKey is the one of them that stays.
const MarkerKey = marker.Key

// ErrOtherTerms is what an error is where a master belongs to proxies that are configured
// otherwise. Trying again does not help, another configuration does.
var ErrOtherTerms = marker.ErrOtherTerms

// Private tells that a key is the proxy's own.
func Private(key string) bool { return strings.HasPrefix(key, private) }
