package commands

import (
	"time"

	"redlock-proxy/commands/acl"
	"redlock-proxy/commands/quota"
	"redlock-proxy/quorum"
)

// Session is what the dialect remembers of one connection. One goroutine at a
// time may use it. Most of its methods are the handlers of commands, one each, of
// which the table has the rows.
type Session struct {
	d    *Dialect
	seen Snapshot

	from   string    // of Inside: his address
	itself bool      // it is the server's own
	as     *acl.User // who its client has shown to be, as of then
	rights rights
	judged *judged // of the command that is carried out; nil if it was not looked what it calls

	channels, shards, patterns nameSet // subscribed to
	named                      int     // what these take, in bytes

	single [1]quorum.Request // what the latest Action asks, see one and Rest

	turn  quota.Turn // that the next command waits for
	begun bool       // there was one

	tx    transaction
	watch *watch // nil: nothing is watched

	// CLIENT REPLY: silent from now on; silent for the next command; silent for
	// the command that is being carried out.
	silent, skipNext, skipping bool

	caching  bool     // CLIENT CACHING: what comes is cached, or is not
	prefixes []string // of keys that the client is told of
}

// Snapshot is what others may know of a session: a value that can be compared.
type Snapshot struct {
	ID      int64
	Proto   int    // 2 or 3
	Authed  bool   // by a password, or none is needed
	User    string // default is who has named no other
	Name    string // of CLIENT SETNAME, "" if there was none
	LibName string // of CLIENT SETINFO, as is LibVer
	LibVer  string
	DB      int  // the database that is selected
	NoEvict bool // not to be cut off for what all clients take, which operators alone can ask for
	NoTouch bool // of CLIENT NO-TOUCH, which changes nothing here

	Channels, Shards, Patterns int // subscriptions

	Tracking Tracking

	Monitors bool // by MONITOR, until RESET

	Multi       bool // between MULTI and EXEC
	Queued      int  // commands since MULTI
	QueuedBytes int  // about what these take
	Watched     int  // keys
}

// Transacts tells that what Multi and the like tell may change by any command.
func (s Snapshot) Transacts() bool { return s.Multi || s.Watched > 0 }

// Subscribed tells that the session is subscribed to something.
func (s Snapshot) Subscribed() bool { return s.Channels+s.Shards+s.Patterns > 0 }

// Session begins a session. id is unique among the connections of this process.
func (d *Dialect) Session(id int64) *Session {
	s := &Session{d: d, seen: Snapshot{ID: id, Proto: 2}}
	s.become(d.standard())
	s.seen.Authed = d.Open()
	return s
}

// Inside is a session of an operator who is no client: he has shown who he is to somebody else. Where he is
// not named, it is the server itself that looks, and may do everything.
func (d *Dialect) Inside(user, from string, db int) *Session {
	s := d.Session(0)
	s.seen.Authed, s.seen.User, s.seen.DB, s.from, s.itself = true, user, db, from, user == ""
	if u := d.users.Named(user); u != nil {
		s.become(u)
	}
	return s
}

// Snapshot is cheap. The goroutine that calls Do takes it, where others are to
// see it.
func (s *Session) Snapshot() Snapshot {
	seen := s.seen
	if s.tx.open {
		seen.Multi, seen.Queued, seen.QueuedBytes = true, len(s.tx.queue), s.tx.memory()
	}
	if s.watch != nil {
		seen.Watched = s.watch.count()
	}
	return seen
}

// Memory is about how many bytes the session keeps for its client between commands, beside
// what is watched.
func (s *Session) Memory() int {
	n := s.named + s.tx.memory() + bytesOf(s.prefixes)
	return n + len(s.seen.Name) + len(s.seen.LibName) + len(s.seen.LibVer)
}

// ID is the number that CLIENT ID tells.
func (s *Session) ID() int64 { return s.seen.ID }

// Proto is the protocol that the client has asked for last, 2 or 3: the one that replies to
// its next command are encoded by.
func (s *Session) Proto() int { return s.seen.Proto }

// Muted tells that the client has asked for no reply to its next command.
func (s *Session) Muted() bool { return s.silent || s.skipNext }

// Authed tells whether the client has given its password, or needed none when it came. Until
// then its commands are to be short.
func (s *Session) Authed() bool { return s.seen.Authed }

// Wait is how long the client's next command has to wait, where it is bounded how many its user may send: it has its
// turn then. Who waits asks again now and then, or Leaves. now is the server's clock. Who has not shown who he is
// has no turn, and cannot take one of others'; nor does he wait behind those that are the user default who begins by
// showing that he is another one.
func (s *Session) Wait(command string, now time.Duration) (wait time.Duration) {
	user, first := s.user(), !s.begun
	s.begun = true
	if user == nil || user.Limits.Rate == 0 || s.mustAuth() || first && (sameWord(command, "AUTH") || sameWord(command, "HELLO")) {
		s.Leave()
		return 0
	}
	if s.turn, wait = user.Use.Turn(user.Limits.Rate, s.turn, now); wait == 0 {
		s.turn = quota.Turn{}
	}
	return wait
}

// Leave gives back the turn that the next command waits for.
func (s *Session) Leave() {
	s.turn.Leave()
	s.turn = quota.Turn{}
}

// Do takes one command of the client, name first, and says what it comes to.
// The strings in args may be kept (for long, only as copies: they hold the memory of
// other commands), the slice is not, but may be written to. No command at all comes to the zero Action.
func (s *Session) Do(args []string) Action {
	if len(args) == 0 {
		return Action{}
	}
	s.skipping, s.skipNext = s.skipNext, false
	a := s.admit(args)
	if s.caching {
		s.endCaching(a.Command)
	}
	for i := range a.Requests {
		a.Requests[i].DB = s.seen.DB
	}
	if len(a.Requests) > 0 && s.rights.user.LimitsLocks() {
		a = s.limit().on(a)
	}
	a.Muted = (a.Muted || s.silent || s.skipping) && !pushes(a.Effect)
	return a
}

// one is the requests of an Action that has one, which is the rule on the hot path: it
// costs no memory of its own, and lasts until the session's next command, or its rest.
func (s *Session) one(r quorum.Request) []quorum.Request {
	s.single[0] = r
	return s.single[:]
}

// Rest is called where there may be no next command for long: the latest one may have been as
// long as a command may be, and is not to be held any more.
func (s *Session) Rest() { clear(s.single[:]) }

// pushes tells that an effect is answered with what no CLIENT REPLY silences.
func pushes(e Effect) bool {
	switch e := e.(type) {
	case SubscribeEffect:
		return true
	case UnsubscribeEffect:
		return e.Reply.Kind != SimpleReply // which is RESET's
	}
	return false
}

// admit is the ladder of checks that every command climbs, in Redis's order,
// before its handler sees it. Here the case that a client writes a command in is settled
// once: the engine, and scripts of ours, compare the name.
func (s *Session) admit(args []string) Action {
	c, container := findCommand(args)
	if c != nil {
		args[0] = c.verb
	}
	var a Action
	switch {
	case container != nil:
		a = unknownSubcommand(container, args[1])
	case c == nil:
		a = unknownCommand(args)
	case !c.arityFits(len(args)) || c.do == nil:
		a = wrongArity(c)
	case s.mustAuth() && !c.anyone:
		a = refuse(errNoAuth)
	case s.listening() && !c.forListeners():
		a = refusef(errListening, c.Name)
	case s.seen.Monitors && c.asksForKeys():
		a = refuse(errMonitors)
	case c.names(args, quorum.Private):
		a = refuse(errPrivateKey)
	case c.names(args, isLongName):
		a = refusef(errKeyName, maxKeyName)
	case s.forbidden(c, args, &a):
	case s.tx.open && !c.goesThroughMulti():
		if a = s.queue(c, args); a.Reply.Kind != ErrorReply {
			return a // EXEC is what the statistics count
		}
	default:
		tracked := s.tracked(c, args)
		a = c.do(s, c, args)
		a.Command = c
		if len(a.Requests) > 0 {
			a.Tracks = tracked
		}
		s.count(c, a.Requests)
		return s.withWatch(a)
	}
	a.Command, a.Rejected = c, true
	if c != nil && c.Name == "exec" {
		return s.abort(a)
	}
	return s.doom(a)
}

// mustAuth tells whether only AUTH and its like are allowed. The password may have
// been taken away since the session began.
func (s *Session) mustAuth() bool { return !s.seen.Authed && !s.d.Open() }
