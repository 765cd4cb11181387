package commands

import (
	"strings"
	"time"

	"redlock-proxy/commands/recognise"
	"redlock-proxy/quorum"
)

// call is one call of a lock script: the shape of the script, and what the
// client gave it.
type call struct {
	sc         *script
	key, token string
	number     int64 // the ttl argument
	additive   bool  // the ttl is added to what is left
}

// exact is how far Lua's numbers are whole numbers. What is within it is also a
// ttl, or a time, that Redis takes.
const exact = 1 << 53

// newCall takes what the shape names out of KEYS and ARGV. It is false if this call
// is not the one that was recognised: something is not given, or the ttl argument is
// none that the shape speaks of. What comes of that may hang on what the key holds.
// The tests of package recognise take the same calls for served (scriptCase).
func newCall(sc *script, keys, argv []string) (call, bool) {
	sh, c := &sc.shape, call{sc: sc}
	if len(keys) < sh.Keys || len(argv) < sh.Args {
		return call{}, false
	}
	c.key, c.token = keys[sh.Key-1], argv[sh.Token-1]
	if sh.TTL > 0 {
		n, ok := parseInt(argv[sh.TTL-1])
		sets := sh.BySet || sh.Class == quorum.Acquire
		if !ok || n > exact || n < -exact || n <= 0 && sets && !sh.OrPersist {
			return call{}, false
		}
		c.number = n
	}
	c.additive = sh.Additive > 0 && argv[sh.Additive-1] == "0"
	return c, true
}

func (c call) action(s *Session) Action {
	sh := &c.sc.shape
	switch {
	case sh.Class == quorum.Acquire:
		return c.acquire(s)
	case sh.Class == quorum.Release:
		return Action{Requests: s.one(c.release()), Render: called{c.sc}}
	case c.additive || sh.Greater || sh.NeedsTTL:
		// What becomes of the key depends on the ttl it has.
		return Action{Requests: forEach(quorum.Read, []string{c.key}), Render: afterRead{c, s.d}, Continues: true}
	}
	return c.extend(s.d, c.number, sh.Unit)
}

func (c call) release() quorum.Request {
	return quorum.Request{Kind: quorum.Release, Key: c.key, Token: c.token}
}

// acquire sets the key as SET NX does, without an expiry where the script comes to that.
func (c call) acquire(s *Session) Action {
	r, text := quorum.Request{Kind: quorum.Acquire, Key: c.key, Token: c.token}, ""
	if c.number > 0 {
		e, ok := s.d.newExpiry(c.number, c.sc.shape.Unit, false)
		if !ok {
			return refuse(inScript(invalidExpire("set"), c.sc.sha))
		}
		r.TTL, r.Far, text = e.ttl(), e.far(), s.d.allowTTL(e)
	} else {
		text = s.d.allowNoTTL()
	}
	if text != "" {
		return refuse(text)
	}
	return Action{Requests: s.one(r), Render: acquired{c.sc}}
}

// extend gives the key an expiry of n units, which the shape has told to be a ttl
// or a Unix time. An expiry that is over ends the lock, as PEXPIRE does.
func (c call) extend(d *Dialect, n int64, unit time.Duration) Action {
	sh := &c.sc.shape
	if n <= 0 && sh.OrPersist {
		if text := d.allowNoTTL(); text != "" {
			return refuse(text)
		}
		return c.putExtend(expiry{})
	}
	e, ok := d.newExpiry(n, unit, sh.Absolute)
	if !ok || sh.BySet && n <= 0 { // what was added to was less than was taken off
		return refuse(inScript(invalidExpire(expireCommand(sh)), c.sc.sha))
	}
	if e.past() {
		return Action{Requests: []quorum.Request{c.release()}, Render: called{c.sc}}
	}
	if text := d.allowTTL(e); text != "" {
		return refuse(text)
	}
	return c.putExtend(e)
}

// putExtend: the zero expiry takes the expiry away.
func (c call) putExtend(e expiry) Action {
	r := quorum.Request{Kind: quorum.Extend, Key: c.key, Token: c.token, TTL: e.ttl(), Far: e.far(), At: e.at()}
	return Action{Requests: []quorum.Request{r}, Render: called{c.sc}}
}

// expireCommand is the name of the command that a script of this shape expires its key
// with.
func expireCommand(sh *recognise.Shape) string {
	if sh.BySet {
		return "set"
	}
	var name strings.Builder
	if sh.Unit == time.Millisecond {
		name.WriteByte('p')
	}
	name.WriteString("expire")
	if sh.Absolute {
		name.WriteString("at")
	}
	return name.String()
}

// acquired answers an acquire with what the client's script would have said, to which a key of another type is one that
// is there.
type acquired struct{ sc *script }

func (a acquired) Render(results []quorum.Result) (Reply, Action) {
	sh := &a.sc.shape
	switch reply := acquiredAsInteger.reply(results[0]); {
	case results[0].Decision == quorum.Unavailable:
		return reply, Action{}
	case reply.Kind == ErrorReply:
		return Error(inScript(reply.Str, a.sc.sha)), Action{}
	case reply.Int == 1:
		return plainReply(sh.Yes), Action{}
	}
	return plainReply(sh.Other), Action{}
}

// called answers a release or an extend with what the client's script would have
// said.
type called struct{ sc *script }

func (c called) Render(results []quorum.Result) (Reply, Action) {
	r, sh := results[0], &c.sc.shape
	if text, failed := c.sc.failure(r); failed {
		return text, Action{}
	}
	switch {
	case r.Decision == quorum.Won:
		return plainReply(sh.Yes), Action{}
	case r.Absent:
		return plainReply(sh.Absent), Action{}
	}
	return plainReply(sh.Other), Action{}
}

// failure is an error of a master as it reads when a script met it.
func (sc *script) failure(r quorum.Result) (Reply, bool) {
	text, failed := failure(r)
	if failed && r.Reply.Kind == quorum.FailureReply && text.Str == r.Reply.Str {
		text.Str = inScript(text.Str, sc.sha)
	}
	return text, failed
}

// afterRead is an extend that had to know what is left of the ttl first. That the
// key still holds the token the extend asks again.
type afterRead struct {
	c call
	d *Dialect
}

func (a afterRead) Render(results []quorum.Result) (Reply, Action) {
	r, sh := results[0], &a.c.sc.shape
	if text, failed := a.c.sc.failure(r); failed {
		return text, Action{}
	}
	switch {
	case !r.Exists:
		return plainReply(sh.Absent), Action{}
	case r.Type != "string":
		return Error(inScript(errWrongType, a.c.sc.sha)), Action{}
	case r.Far > 0: // of which the difference matters to nobody
		r.TTL = longestTTL
	}
	if r.Value != a.c.token || sh.NeedsTTL && r.TTL == quorum.NoTTL {
		return plainReply(sh.Other), Action{}
	}
	next := a.next(r.TTL)
	if next.Requests == nil {
		return next.Reply, Action{}
	}
	return Reply{}, next
}

// next goes on from the ttl that is left, which may be none.
func (a afterRead) next(left time.Duration) Action {
	c, sh := a.c, &a.c.sc.shape
	if c.additive {
		return a.add(left)
	}
	if sh.Greater && !sh.Absolute && a.longEnough(left) {
		return Action{Reply: plainReply(sh.Kept)}
	}
	return c.extend(a.d, c.number, sh.Unit)
}

// longEnough tells whether what is left is at least what is asked for. A key
// without a ttl lives longest.
func (a afterRead) longEnough(left time.Duration) bool {
	e, ok := a.d.newExpiry(a.c.number, a.c.sc.shape.Unit, false)
	return left == quorum.NoTTL || ok && e.far() == 0 && e.ttl() <= left
}

// add counts in milliseconds. To a key without a ttl the argument is added as to
// -1, which is how the scripts read it.
func (a afterRead) add(left time.Duration) Action {
	perUnit := int64(a.c.sc.shape.Unit / time.Millisecond)
	millis := int64(-1)
	if left != quorum.NoTTL {
		millis = left.Milliseconds()
	}
	return a.c.extend(a.d, a.c.number*perUnit+millis, time.Millisecond)
}
