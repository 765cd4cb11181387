package commands

import (
	"strconv"
	"time"

	"redlock-proxy/quorum"
)

// A client counts its ttl from when it has asked, and masters hold the key for a while longer, as clocks
// may differ. What it was asked for is known here of keys that were given their ttl through this
// proxy: what then is over for its client reads as absent. It cannot be so for what writes: a script that
// finds a lock free takes it, and the masters still hold it for somebody whose clock may be slow.

// count tells of each key that is only read what is known of its ttl.
func (s *Session) count(c *Command, requests []quorum.Request) {
	for i := range requests {
		r := &requests[i]
		if r.Kind != quorum.Read && (r.Kind != quorum.Run || r.Script != plainScript) || !c.onlyReads() {
			return
		}
		known := s.d.lookout.Seen().Counted(s.seen.DB, r.Key, s.d.lookout.Clock())
		switch {
		case known.TTL == 0:
		case r.Kind == quorum.Read:
			r.Counted = known
			r.ValueOnly = r.ValueOnly && !mayBeOver(known)
		case mayBeOver(known):
			unlessOver(r, known)
		}
	}
}

// onlyReads tells of a command that what it reads is its answer. Of LOCK's that is what masters hold.
func (c *Command) onlyReads() bool {
	return c.HasFlag("readonly") && (c.parent == nil || c.parent.Name != "lock") || c.Name == "getex"
}

// mayBeOver tells that a ttl is over, and that masters may still hold its key: for one per cent of the
// ttl, or somewhat longer. Only then is their word on how long looked at where that was not asked for.
func mayBeOver(c quorum.Counted) bool { return c.Left < 0 && -c.Left < c.TTL/50+time.Second }

// nothing is a key that there is none of.
const nothing = quorum.PrivateKeys + "nothing}"

// unlessOverScript is plainScript, but of a key that is over it tells what it would if there were none.
// The last of ARGV are its ttl and what is left of that, in milliseconds: see clock.Left.
var unlessOverScript = quorum.NewScript(`local left, ttl = tonumber(table.remove(ARGV)), tonumber(table.remove(ARGV))
local p, padding = redis.whole('PTTL', KEYS[1]), ttl / 100 + 2
if p >= 0 and p < padding and math.abs(p - left - padding) <= 200 then
	local name = string.upper(ARGV[1])
	ARGV[(name == 'OBJECT' or name == 'MEMORY') and 3 or 2] = KEYS[2]
end
return redis.call(unpack(ARGV))`).ReadOnly()

// unlessOver has a command that reads one key tell nothing of what is over.
func unlessOver(r *quorum.Request, known quorum.Counted) {
	r.Script, r.Keys = unlessOverScript, []string{r.Key, nothing}
	r.Args = append(r.Args, strconv.FormatInt(known.TTL.Milliseconds(), 10), strconv.FormatInt(known.Left.Milliseconds(), 10))
}
