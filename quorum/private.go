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

// MarkerKey stays, in each database and without a ttl: it
// shows that a master remembers.
const MarkerKey = PrivateKeys + "marker}"

// StepsKey stays, too. It is a hash of what steps have left of keys on a master: of each its trail (see decide.Reached), a
// checksum, since when nothing but steps has changed it, and when it ends, in milliseconds of the master's clock. So a step tells
// for how long nothing else has changed the key, and its trail, as long as it finds what the last one has left, whoever's that
// was. What else writes to a key, deletes it, or should have and has found none, or another value, drops it from there, as does
// what may have looked in it for what to take out: what a SET NX makes anew of what had run out ends at another time; and a loss
// drops all of it. Who does not know of trails leaves none, and finds no key calm that has one. It has a few thousand keys at most.
const StepsKey = PrivateKeys + "steps}"

// fieldOfK is the name of the key k in StepsKey.
const fieldOfK = "#k>64 and string.rep(redis.sha1hex(k),2) or k"

// FieldText makes __field(k), that name.
const FieldText = "local function __field(k) return " + fieldOfK + " end "

// DropText is the statement by which a script that is no step drops its local k, a key, from StepsKey; ChangedText makes
// __changed(k) of it, which takes a master .1 µs of a call more.
const (
	DropText    = "redis.pcall('HDEL','" + StepsKey + "'," + fieldOfK + ") "
	ChangedText = "local function __changed(k) " + DropText + "end "
)

// ErrOtherTerms is what an error is where a master belongs to proxies that are configured
// otherwise. Trying again does not help, another configuration does.
var ErrOtherTerms = errors.New("the configuration is not the masters'")

// Private tells that a key is the proxy's own.
func Private(key string) bool { return strings.HasPrefix(key, PrivateKeys) }
