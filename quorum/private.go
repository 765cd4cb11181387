package quorum

import "strings"

// Among the locks of its clients the proxy keeps keys of its own on the masters.
// They are out of the clients' sight and reach: no command names one, and none is
// listed or counted.

// private is what their names begin with.
const private = "redlock-proxy:{"

// MarkerKey is the one of them that stays, in each database and without a ttl: it
// shows that a master remembers.
const MarkerKey = private + "marker}"

// Private tells that a key is the proxy's own.
func Private(key string) bool { return strings.HasPrefix(key, private) }
