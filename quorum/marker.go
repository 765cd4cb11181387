package quorum

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

// marker is what a master's marker says.
type marker struct {
	nonce        nonce
	Installation string `json:"installation"` // drawn by bootstrap; tells one set of masters from another
	Member       string `json:"member"`       // the master's own name in the set
	DB           int    `json:"db"`           // the database that it stands in; notTold if it does not say
	terms

	// RunID is that of the process that was admitted, and Durable that it was
	// seen, while it ran, to put every write on disk before it answered.
	RunID   string `json:"run_id"`
	Durable bool   `json:"durable,omitempty"`

	// Log is the name of the log that it wrote all the while, if not RunID, and Others,
	// in database 0 alone, which log each other member writes; see durable.go.
	Log    string            `json:"log,omitempty"`
	Others map[string]string `json:"others,omitempty"`

	// Whole tells that the process has read a log when it was started that is whole, so that
	// it is excused in all databases; in database 0.
	Whole bool `json:"whole,omitempty"`

	// Rewrites, in database 0, is how often the process had begun to write its log anew when
	// that got its name.
	Rewrites int `json:"rewrites,omitempty"`

	// First tells that no master of the installation was known to vote when this
	// provisional marker was written. Loss names that step.
	First bool `json:"first,omitempty"`

	// Sworn tells of a first marker that it was written on the operator's word that nobody
	// holds a lock; see bootstrapplan.go.
	Sworn bool `json:"sworn,omitempty"`

	// Was is the nonce of the marker that this one has replaced.
	Was nonce `json:"was,omitempty"`

	// Loss tells one loss of the whole master from the next: the markers of all its
	// databases name the last that was told there, also when they let it vote again.
	Loss string `json:"loss,omitempty"`

	// Evicted is how many keys the process had evicted, and Replication which history
	// its data set had, when the marker was written: of a loss that was told since the
	// lane looked at the server last, what that has told.
	Evicted     int    `json:"evicted"`
	Replication string `json:"replication,omitempty"`

	// Why a quarantine began, and how long it has lasted already, in
	// milliseconds, as proxies have seen it pass by their own clocks.
	Why     string `json:"why,omitempty"`
	Elapsed int64  `json:"elapsed_ms,omitempty"`

	// Ghosts tells that the master was let vote again and may hold what nobody does. Who
	// has freed it of that, takes the word back.
	Ghosts bool `json:"ghosts,omitempty"`

	// From is the installation that the set was made of by change-masters. Until
	// that has finished, Changing is told, and nobody lets the master vote; Holds
	// is, if it remembers what it granted as one of the old set; and Given as well, the
	// nonces of the new set's masters, when they have been given that, so that whoever
	// bears another one may have voted since.
	From     string  `json:"from,omitempty"`
	Changing bool    `json:"changing,omitempty"`
	Holds    bool    `json:"holds,omitempty"`
	Given    []nonce `json:"given,omitempty"`
}

// notTold is in a number that a marker of an older program does not have.
const notTold = -1

// String is the marker as it stands on the master.
func (m marker) String() string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(m.nonce) + " " + string(b)
}

// noMarkerText says what stands in a marker's place, and what to do about it: a master
// without a marker is kept out until no lock can be left that it has forgotten.
const noMarkerText = "the key " + MarkerKey + " holds what is no marker: find out who wrote that, and delete it; the master is then one that has lost its marker"

// parseMarker reads a marker. What is not one of ours is an error.
func parseMarker(text string) (m marker, err error) {
	n, rest, ok := strings.Cut(text, " ")
	if m.nonce = nonce(n); !ok || !m.nonce.valid() {
		return m, errors.New(noMarkerText)
	}
	m.DB, m.Evicted = notTold, notTold
	if err := json.Unmarshal([]byte(rest), &m); err != nil {
		return m, fmt.Errorf("%s: %w", noMarkerText, err)
	}
	return m, nil
}

// nonceOf is the nonce that a text on a master begins with, whatever else it is.
func nonceOf(text string) nonce { return nonce(text[:min(len(text), nonceLength)]) }

// standing is what a master's marker makes of it.
type standing uint8

const (
	trusted   standing = iota + 1 // it remembers, and may vote
	waiting                       // it is quarantined already
	unmarked                      // there is no marker, and no master of its set votes
	foreign                       // it is of another installation with the same terms
	emptied                       // it has lost the keys of this database, or may have
	restarted                     // its process is another, which may know nothing of what was granted
	forgot                        // it has lost keys in any database, or may have
	excused                       // it was started anew, and had everything on disk
	outdated                      // it has come back with what it held before the set was changed
)

// A marker that is gone tells of its database alone: FLUSHDB leaves the others as they
// were. Everything else is about the whole master, whichever database shows it, and
// however few of them are in use at the moment:
//
//	1: A wins k in database 1, on masters 1 and 2; then clients use database 0 alone
//	2: the clock of 1 is set an hour ahead, and it forgets k; 1 is quarantined in
//	   database 0, and admitted when it has caught up there; then the same becomes of 2
//	3: B asks for k in database 1, of masters whose markers there know of nothing

// since tells what has become of a master's keys, by its own word, since the marker was
// written: why it forgot, or "".
//
// A server that was a replica for a while may hold what another one held. If that was
// none but its own replica, it bears its own marker, and lacks the last that it granted.
//
// It is asked in every database, as each has a connection of its own, and the first that
// is back must not vote before the others have found out.
func (m marker) since(who identity) (why string) {
	switch {
	case m.RunID != who.runID:
	case m.Evicted != notTold && who.evicted > m.Evicted:
		return fmt.Sprintf("it has evicted %d keys", who.evicted-m.Evicted)
	case m.Replication != "" && who.replication != m.Replication && who.continued:
		return "it has been a replica"
	}
	return ""
}

// examine tells where a master stands by the text of its marker ("" if there is
// none) in a database, given what this proxy is configured with and the installation
// as far as it is known ("" before the first marker was seen). It is pure. why is told
// of a master that forgot. An error means that the master is not ours to touch.
func examine(text string, who identity, member string, db int, ours terms, installation, from string) (m marker, s standing, why string, err error) {
	if text == "" {
		if installation == "" {
			return m, unmarked, "", nil
		}
		return m, emptied, "its marker is gone", nil
	}
	if m, err = parseMarker(text); err != nil {
		return m, 0, "", err
	}
	switch {
	case m.ofAnEarlier(who) && from != "" && m.Installation == from:
		return m, outdated, "it has come back with what it held before its set was changed", nil
	case !m.terms.equal(ours):
		return m, 0, "", &errOtherTerms{theirs: m, ours: ours, name: member}
	case m.ofAnEarlier(who) && m.Changing && m.Installation == installation:
		return m, restarted, "it has come back with what it held while its set was changed", nil
	case m.Changing:
		return m, 0, "", errChanging
	case installation != "" && m.Installation != installation:
		return m, foreign, "", nil
	case m.Member != member && m.RunID == who.runID:
		return m, 0, "", errTwin(m.Member)
	case m.Member != member: // what it holds was another's
		return m, forgot, "its marker is that of " + m.Member, nil
	case m.DB != db && m.DB != notTold:
		return m, forgot, fmt.Sprintf("its marker is that of database %d: they were swapped", m.DB), nil
	case m.since(who) != "":
		return m, forgot, m.since(who), nil
	case m.nonce.provisional() && m.RunID == who.runID:
		return m, waiting, m.Why, nil
	case m.RunID == who.runID:
		return m, trusted, "", nil
	case (m.Durable || db != 0) && who.keptAll() && !m.nonce.provisional(): // database 0 tells for all
		return m, excused, "", nil
	}
	// Also of a provisional marker: it may be in a dump of long ago, or in a log that was
	// switched off, and the master may have been admitted and have voted since.
	return m, restarted, "its process was started anew", nil
}

// ofAnEarlier tells that the marker is an earlier process's, and may be older than what
// became of its master there. That another master bears a marker of the installation which
// change-masters has made, without Changing, tells that each of its masters has been given
// everything, so that one which comes back as it was before has lost its memory as any other:
//
//	1: a set of 1 2 3 becomes 1 to 5, and its proxies serve
//	2: master 1 crashes, and reads a dump of before; were its marker that of another set's,
//	   no proxy would grant anything
//
// A log is no better: one that was not switched off would hold what came after.
func (m marker) ofAnEarlier(who identity) bool { return m.RunID != who.runID }

// Scripts that write a marker act only where it still is what was read: of two
// proxies that find the same loss, one writes.
var (
	// markScript replaces the marker by ARGV[2] if it begins with ARGV[1] ("":
	// if there is none). It answers what is there then.
	markScript = newScript(`local m=redis.call('GET',KEYS[1]) or ''
if ARGV[1]=='' and m=='' or ARGV[1]~='' and string.sub(m,1,#ARGV[1])==ARGV[1] then redis.call('SET',KEYS[1],ARGV[2]) return ARGV[2] end
return m`)

	// lossScript replaces the markers of all databases by what follows ARGV[4], the text
	// for database 0 first, if that of this database, ARGV[2], begins with ARGV[1]. Of the
	// others it leaves alone what is of another installation than ARGV[3] says, or is
	// part of a change of the set, or holds ARGV[4], unless that is empty. Each is told
	// which nonce it replaces. It answers what stands in this database then.
	lossScript = newScript(`local own=tonumber(ARGV[2])
local m=redis.call('GET',KEYS[1]) or ''
if string.sub(m,1,17)~=ARGV[1] then return m end
local said
for d=0,#ARGV-5 do
local s=redis.pcall('SELECT',d)
if s.err then
if string.find(s.err,'DB index',1,true) then break end
return s end
m=redis.pcall('GET',KEYS[1]) or ''
local function has(t) return string.find(m,t,1,true) end
if d==own or m=='' or type(m)=='string' and has(ARGV[3]) and not has('"changing":true')
and (ARGV[4]=='' or not has(ARGV[4])) then
local t=string.gsub(ARGV[5+d],'"was":"@"',function() return '"was":"'..string.sub(m,1,17)..'"' end)
redis.call('SET',KEYS[1],t)
if d==own then said=t end end end
return said`)

	// flushScript carries out ARGV[2] and what follows, which empties the
	// database ARGV[1], or all of them, and leaves the markers where they are: a
	// client that frees all locks is no master that forgot them.
	flushScript = newScript(datedText + `local first,last=tonumber(ARGV[1]),tonumber(ARGV[1])
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
