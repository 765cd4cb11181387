package quorum

import (
	"errors"
	"strings"
)

// Among the locks of its clients the proxy keeps keys of its own on the masters.
// They are out of the clients' sight and reach: no command names one, and none is
// listed or counted.

// PrivateKeys is what their names begin with.
const PrivateKeys = "redlock-proxy:{"

// MarkerKey is the one of them that stays, in each database and without a ttl: it
// shows that a master remembers.
const MarkerKey = PrivateKeys + "marker}"

// ErrOtherTerms is what an error is where a master belongs to proxies that are configured
// otherwise. Trying again does not help, another configuration does.
var ErrOtherTerms = errors.New("the configuration is not the masters'")

// Private tells that a key is the proxy's own.
func Private(key string) bool { return strings.HasPrefix(key, PrivateKeys) }
