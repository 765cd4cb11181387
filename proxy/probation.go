package proxy

import (
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// A master is busy for a while with a script that takes many steps, and whoever has a request
// in the same batch waits for all such in it. So a script that has, given as much (see
// conduct.go), and those of a client that had one, are on probation: they are carried out one
// after the other (see crowd.go), so that one at a time is in the masters' batches.
//
// What a script takes is known once it has run. One that nobody has seen to take little is a
// stranger until somebody has: else whoever thinks of a new one each time, and calls it by a
// new connection, would never be known. Of strangers a few are carried out at a time. Those
// that wait with one script go on together once it is known.
//
// What it is worth, by go run ./integration/attack -run 'endless|turncoats' on two busy cores, eight
// turns beside a build without it: while 20 clients run endless scripts a bystander waits 0.7 ms,
// p99 2 to 4, and else 6 ms, 13 to 21; with the turncoats p99 is 4 to 5 ms, and else 37 to 83,
// where some of its commands are refused.

const (
	// probation is how many calls that do not toil show that a client's, or a script's, are no
	// burden.
	probation = 16
	// mostStrange is how many strangers are carried out at once.
	mostStrange = 2
	// longestTurn is how long one waits at most for the one whose turn it is: where masters do
	// not answer, that takes much longer than a script does. longestInLine is for all before.
	longestTurn   = 250 * time.Millisecond
	longestInLine = 2 * time.Second

	// What a script is given may take a master long before it has begun. What is above
	// lightBurden, which is a millisecond, waits for its turn whatever is known of it, and what
	// is above mostBurden is not put: names and values come to that only if they are made for
	// it.
	lightBurden = 8 << 20
	mostBurden  = 128 << 20
)

// collide is what is said of the latter.
var collide = commands.Error("ERR too many of the arguments collide where a master's Lua keeps its strings")

// burdenOf is how much masters have to compare to take in what a script is given, in bytes.
func (c *conn) burdenOf(r *quorum.Request) int {
	if r.Kind != quorum.Run {
		return 0
	}
	if len(r.Keys)+len(r.Args) > manyGiven {
		c.stepAside() // it may take some milliseconds to know
	}
	return r.Interning()
}

// manyGiven is more than locks are about.
const manyGiven = 256

// awaitTurn waits for the turn of what is about to be put, and tells of which crowd that is:
// nil if it need not. mu is held.
func (c *conn) awaitTurn(a *commands.Action, burden int) (turn *crowd) {
	r := &a.Requests[0]
	if r.Kind != quorum.Run && !a.Continues {
		return nil
	}
	var heft uint8
	if r.Kind == quorum.Run && r.Script.OfClient() {
		known := conductOf(r.Script)
		heft = heftOf(r)
		switch {
		case known.toils(heft):
			turn = &c.srv.toilers
		case known.strange(heft):
			turn = &c.srv.strange
		}
	}
	if c.probation > 0 || burden > lightBurden {
		turn = &c.srv.toilers
	}
	if turn != nil {
		c.await(turn, &crowdWaiter{n: 1, script: r.Script, heft: heft}, longestTurn, longestInLine)
	}
	return turn
}

// judge notes whether a script has toiled. One of ours is everybody's, so that it tells of the
// client alone.
//
// Where masters have not answered in time, it may be another that has kept them. So that tells
// against what waited for its turn, and of what was known no more than that it is doubted.
func (c *conn) judge(s *slot, r *quorum.Result) {
	request := s.asks[0].request
	script, toiled := request.Script, r.Toiled
	switch {
	case r.Decision == quorum.Unavailable && (!toiled || !script.OfClient()):
		return
	case r.Decision == quorum.Unavailable && s.turn == nil:
		learn(&script.Conduct, conduct.doubted)
		return
	}
	if script.OfClient() {
		c.learn(script, heftOf(request), toiled)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if toiled {
		c.probation = probation
	} else {
		c.probation = max(c.probation-1, 0)
	}
}

// learn notes of a client's script what a call has shown.
func (c *conn) learn(script *quorum.Script, heft uint8, toiled bool) {
	if toiled {
		c.srv.stats.toiling.Add(1)
	}
	was, is := learn(&script.Conduct, func(k conduct) conduct { return k.after(heft, toiled) })
	if is.light > was.light {
		c.srv.strange.letPass(script, is.light)
	}
}
