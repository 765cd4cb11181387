package quorum

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// nonceLength is how many bytes at the beginning of a marker tell one admission,
// or one quarantine, from the next. A batch's proof reads no more than these.
const (
	nonceLength = 17
	lastOfNonce = "16" // GETRANGE counts from 0
)

// nonce begins with 'v' in a marker that lets its master vote, and with 'q' in a
// provisional one; 16 random hexadecimal digits follow.
type nonce string

func newNonce(provisional bool) nonce {
	var b [8]byte
	rand.Read(b[:]) // never fails
	kind := "v"
	if provisional {
		kind = "q"
	}
	return nonce(kind + hex.EncodeToString(b[:]))
}

// provisional tells that the master is quarantined under this nonce.
func (n nonce) provisional() bool { return strings.HasPrefix(string(n), "q") }

func (n nonce) valid() bool {
	if len(n) != nonceLength || n[0] != 'v' && n[0] != 'q' {
		return false
	}
	_, err := hex.DecodeString(string(n[1:]))
	return err == nil
}

// terms are what all proxies before one set of masters must agree on: with
// different ones they could both grant a lock, or protect it for different times.
type terms struct {
	Set            []string `json:"set"` // the masters' names, sorted
	AcquireTimeout int64    `json:"acquire_timeout_ms"`
	MaxTTL         int64    `json:"max_ttl_ms"`
}

func (c *Config) agreement() terms {
	t := terms{AcquireTimeout: c.AcquireTimeout.Milliseconds(), MaxTTL: c.MaxTTL.Milliseconds()}
	for _, m := range c.Masters {
		t.Set = append(t.Set, m.Name)
	}
	slices.Sort(t.Set)
	return t
}

func (t terms) equal(u terms) bool {
	return slices.Equal(t.Set, u.Set) && t.AcquireTimeout == u.AcquireTimeout && t.MaxTTL == u.MaxTTL
}

func (t terms) String() string {
	return fmt.Sprintf("masters %s, acquire-timeout %v, max-ttl %v", strings.Join(t.Set, " "),
		time.Duration(t.AcquireTimeout)*time.Millisecond, time.Duration(t.MaxTTL)*time.Millisecond)
}

// marker is what a master's marker says.
type marker struct {
	nonce        nonce
	Installation string `json:"installation"` // drawn by bootstrap; tells one set of masters from another
	Member       string `json:"member"`       // the master's own name in the set
	terms

	// RunID is that of the process that was admitted, and Durable that it was
	// seen, while it ran, to put every write on disk before it answered.
	RunID   string `json:"run_id"`
	Durable bool   `json:"durable,omitempty"`

	// Was is the nonce of the marker that this one has replaced.
	Was nonce `json:"was,omitempty"`

	// Why a quarantine began, and how long it has lasted already, in
	// milliseconds, as proxies have seen it pass by their own clocks.
	Why     string `json:"why,omitempty"`
	Elapsed int64  `json:"elapsed_ms,omitempty"`

	// From is the installation that the set was made of by change-masters. Until
	// that has finished, Changing is told, and nobody lets the master vote; Holds
	// is, if it remembers what it granted as one of the old set.
	From     string `json:"from,omitempty"`
	Changing bool   `json:"changing,omitempty"`
	Holds    bool   `json:"holds,omitempty"`
}

// String is the marker as it stands on the master.
func (m marker) String() string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(m.nonce) + " " + string(b)
}

// parseMarker reads a marker. What is not one of ours is an error.
func parseMarker(text string) (m marker, err error) {
	n, rest, ok := strings.Cut(text, " ")
	if m.nonce = nonce(n); !ok || !m.nonce.valid() {
		return m, fmt.Errorf("%s holds what is no marker", MarkerKey)
	}
	if err := json.Unmarshal([]byte(rest), &m); err != nil {
		return m, fmt.Errorf("%s holds what is no marker: %w", MarkerKey, err)
	}
	return m, nil
}

// nonceOf is the nonce that a text on a master begins with, whatever else it is.
func nonceOf(text string) nonce { return nonce(text[:min(len(text), nonceLength)]) }

// errOtherTerms says that a master belongs to proxies that are configured
// otherwise. It is never overwritten.
type errOtherTerms struct{ theirs, ours string }

func (e *errOtherTerms) Error() string {
	return fmt.Sprintf("its marker was written for other terms (%s) than this proxy's (%s); configure all proxies alike, or make a new set with change-masters",
		e.theirs, e.ours)
}

// standing is what a master's marker makes of it.
type standing uint8

const (
	trusted  standing = iota + 1 // it remembers, and may vote
	waiting                      // it is quarantined already
	unmarked                     // there is no marker, and nobody knows yet of which installation it would be
	forgot                       // it has lost keys, or may have
	excused                      // it was started anew, and had everything on disk
)

// examine tells where a master stands by the text of its marker ("" if there is
// none), given what this proxy is configured with and the installation as far as
// it is known ("" before the first marker was seen). It is pure. why is told of a
// master that forgot. An error means that the master is not ours to touch.
func examine(text string, who identity, member string, ours terms, installation string) (m marker, s standing, why string, err error) {
	if text == "" {
		if installation == "" {
			return m, unmarked, "", nil
		}
		return m, forgot, "its marker is gone", nil
	}
	if m, err = parseMarker(text); err != nil {
		return m, 0, "", err
	}
	switch {
	case !m.terms.equal(ours):
		return m, 0, "", &errOtherTerms{m.terms.String(), ours.String()}
	case installation != "" && m.Installation != installation:
		return m, 0, "", fmt.Errorf("its marker is of installation %s, the other masters' is of %s", m.Installation, installation)
	case m.Changing:
		return m, 0, "", errChanging
	case m.Member != member && m.RunID == who.runID:
		return m, 0, "", errTwin(m.Member)
	case m.Member != member: // what it holds was another's
		return m, forgot, "its marker is that of " + m.Member, nil
	case m.nonce.provisional():
		return m, waiting, m.Why, nil
	case m.RunID == who.runID:
		return m, trusted, "", nil
	case m.Durable && who.durable:
		return m, excused, "", nil
	}
	return m, forgot, "its process was started anew", nil
}

// Scripts that write a marker act only where it still is what was read: of two
// proxies that find the same loss, one writes.
var (
	// markScript replaces the marker by ARGV[2] if it begins with ARGV[1] ("":
	// if there is none). It answers what is there then.
	markScript = newScript(`local m=redis.call('GET',KEYS[1]) or ''
if string.sub(m,1,17)==ARGV[1] then redis.call('SET',KEYS[1],ARGV[2]) return ARGV[2] end
return m`)

	// flushScript carries out ARGV[2] and what follows, which empties the
	// database ARGV[1], or all of them, and leaves the markers where they are: a
	// client that frees all locks is no master that forgot them.
	flushScript = newScript(`local first,last=tonumber(ARGV[1]),tonumber(ARGV[1])
if string.upper(ARGV[2])=='FLUSHALL' then first,last=0,15 end
local kept={}
for d=first,last do
local s=redis.pcall('SELECT',d)
if type(s)=='table' and s.err then break end
local m=redis.pcall('GET',KEYS[1])
if type(m)=='string' then kept[d]=m end end
redis.call('SELECT',ARGV[1])
table.remove(ARGV,1)
local r=redis.call(unpack(ARGV))
for d,m in pairs(kept) do redis.call('SELECT',d) redis.call('SET',KEYS[1],m) end
return r`)
)
