package proxy

import (
	"runtime"
	"strconv"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/commands/acl"
	"redlock-proxy/proxy/resp"
)

// longUnread is how much may wait for a client before it is given another long reply
// of those that no master is asked for: they cost the client next to nothing, and us
// to encode them.
const longUnread = 1 << 20

// command carries out one command of the client: its requests are on their way
// when it returns, or its reply is in the line.
func (c *conn) command(k *chunk, args []string) ending {
	if isHTTP(args[0]) {
		c.attacked()
		return ended
	}
	c.moveOn()
	now := time.Now()
	if turn := c.session.Wait(args[0], now.Sub(c.srv.started)); turn > 0 {
		if !c.awaitPace(args[0], turn) {
			return ended
		}
		now = time.Now()
	}
	if c.session.Memory() > chunkSize {
		c.stepAside() // of a client of which much is kept, a word may set much in motion: EXEC
	}
	a := c.session.Do(args)
	if a.Command != nil {
		c.last.Store(a.Command)
	}
	if len(a.Requests) > 0 {
		burden := c.burdenOf(&a.Requests[0])
		if burden <= mostBurden {
			c.tellMonitors(&a, now)
			if !c.put(&a, now, burden) || a.Close {
				return ended
			}
			return 0
		}
		a.Reply = collide
	}
	if a.Effect != nil {
		c.carryOut(&a)
	}
	c.show()
	if c.listens() && !c.session.MayListen() { // his rights may have become others while he began to
		a.Close = true
	}
	switch {
	case a.Rejected:
		c.srv.stats.rejected(a.Command, &a.Reply)
	case a.Command != nil:
		c.carriedOut(a.Command, time.Since(now), c.raw, &a.Reply)
	}
	if a.Forbidden != (acl.Denial{}) {
		c.logDenied(&a)
	}
	c.audit(&a)
	if a.Denied {
		c.denied()
	}
	fine := a.Muted || c.reply(k, &a.Reply)
	c.tellMonitors(&a, now) // who monitors has his own reply first, as on Redis
	if !fine || a.Close {
		return ended
	}
	return 0
}

// reply puts the reply to a command that needed no request into the line, and waits until
// the client has read enough for the next one. It is false if the connection has been cut
// off.
func (c *conn) reply(k *chunk, r *commands.Reply) bool {
	if l := resp.NewLong(r, c.session.Proto()); l != nil {
		c.stepAside() // whoever asks for many has others served in between
		defer runtime.Gosched()
		return c.appendLong(l) && c.keepPace(min(longUnread, c.srv.cfg.Limits.MaxUnread))
	}
	k.encoded = resp.Append(k.encoded[:0], r, c.session.Proto())
	return c.append(k.encoded) && c.keepPace(c.srv.cfg.Limits.MaxUnread)
}

// carryOut turns an effect into a reply.
func (c *conn) carryOut(a *commands.Action) {
	s := c.srv
	switch a.Effect.(type) {
	case commands.TimeEffect, commands.ClientInfoEffect:
	default:
		c.stepAside() // it may wait, or have much to do
	}
	switch e := a.Effect.(type) {
	case commands.InfoEffect:
		a.Reply = commands.Verbatim(s.info(e.Sections))
	case commands.MastersEffect:
		a.Reply = s.mastersReply(s.engine.Status())
	case commands.StatusEffect:
		a.Reply = commands.Simple(s.verdict())
	case commands.ProxiesEffect:
		a.Reply = c.session.Proxies()
	case commands.AdmitEffect:
		a.Reply = c.ordered("LOCK ADMIT", e.Master, e.Reason, s.admitMaster(e.Master))
	case commands.DrainEffect:
		a.Reply = c.ordered("LOCK DRAIN", e.Master, e.Reason, s.drainMaster(e.Master, e.Force))
	case commands.ResumeEffect:
		a.Reply = c.ordered("LOCK RESUME", e.Master, e.Reason, s.resumeMaster(e.Master))
	case commands.TimeEffect:
		now, known := s.engine.Now()
		if !known {
			a.Reply = commands.NoTime
			return
		}
		a.Reply = commands.Array(
			commands.Bulk(strconv.FormatInt(now.Unix(), 10)),
			commands.Bulk(strconv.Itoa(now.Nanosecond()/1000)),
		)
	case commands.SelectEffect:
		err := s.engine.Open(e.DB)
		if err == nil {
			s.keyspace.note(e.DB)
		}
		a.Reply = c.session.Selected(e, err)
	case commands.ClientInfoEffect:
		a.Reply = commands.Verbatim(c.line())
	case commands.ClientListEffect:
		a.Reply = commands.Verbatim(s.clientList(c, e.Filter))
	case commands.ClientKillEffect:
		killed, me := s.clientKill(c, e.Filter)
		a.Close = a.Close || me
		switch {
		case !e.Old:
			a.Reply = commands.Integer(int64(killed))
		case killed == 0:
			a.Reply = commands.Error(commands.NoSuchClient)
		default:
			a.Reply = commands.OK
		}
	case commands.TrackingEffect:
		c.track(a, e)
	case commands.ClientUnblockEffect:
		a.Reply = commands.Integer(s.unblock(e))
	default:
		if !c.carryOutPubsub(a) && !c.carryOutTools(a) && !c.carryOutRights(a) {
			panic("proxy: an effect that is not known")
		}
	}
}

// show publishes the session, if it has changed. RESET ends what MONITOR began.
func (c *conn) show() {
	now, old := c.session.Snapshot(), c.snapshot.Load()
	if old != nil && *old == now {
		return
	}
	c.snapshot.Store(&now)
	c.origin.Store(c.originOf(&now))
	c.countTracking(old, &now)
	if old != nil && old.Monitors && !now.Monitors {
		c.srv.monitors.unwatch(c)
	}
}
