package proxy

import (
	"strings"

	"redlock-proxy/commands"
)

// carryOutTools turns the effects of what is asked about the server itself into replies. It is
// false for any other.
func (c *conn) carryOutTools(a *commands.Action) bool {
	s := c.srv
	switch e := a.Effect.(type) {
	case commands.SlowlogGetEffect:
		a.Reply = s.slowlog.latest(e.Count)
	case commands.SlowlogLenEffect:
		a.Reply = commands.Integer(int64(s.slowlog.length()))
	case commands.SlowlogResetEffect:
		s.slowlog.reset()
		a.Reply = commands.OK
	case commands.LatencyLatestEffect:
		a.Reply = s.latency.latest()
	case commands.LatencyHistoryEffect:
		a.Reply = s.latency.history(e.Event)
	case commands.LatencyResetEffect:
		a.Reply = commands.Integer(int64(s.latency.reset(e.Events)))
	case commands.LatencyDoctorEffect:
		a.Reply = commands.Verbatim(s.latencyDoctor())
	case commands.LatencyHistogramEffect:
		a.Reply = s.stats.histograms(e.Commands)
	case commands.MemoryStatsEffect:
		a.Reply = s.memoryStats()
	case commands.MemoryDoctorEffect:
		a.Reply = commands.Verbatim(s.memoryDoctor(readHeap()))
	case commands.MemoryPurgeEffect:
		s.purge()
		a.Reply = commands.OK
	case commands.MonitorEffect:
		c.monitor(a)
	case commands.ConfigSetEffect:
		a.Reply = c.configure(e.Settings)
	case commands.ConfigRewriteEffect:
		a.Reply = c.rewrite()
	case commands.ConfigResetStatEffect:
		s.stats.reset(s.clock())
		a.Reply = c.configured("RESETSTAT", "", commands.OK)
	default:
		return false
	}
	return true
}

// configure carries out CONFIG SET.
func (c *conn) configure(settings []commands.Setting) commands.Reply {
	if c.srv.cfg.Configure == nil {
		return commands.OptionRefused(settings[0].Name, "can't set immutable config")
	}
	names := make([]string, len(settings))
	for i := range settings {
		names[i] = settings[i].Name
	}
	return c.configured("SET", strings.Join(names, " "), c.srv.cfg.Configure(settings))
}

// rewrite carries out CONFIG REWRITE.
func (c *conn) rewrite() commands.Reply {
	if c.srv.cfg.Rewrite == nil {
		return commands.NoConfigFile
	}
	return c.configured("REWRITE", "", c.srv.cfg.Rewrite())
}

// configured logs who has changed how the proxy runs, which options, and what came of it.
func (c *conn) configured(order, options string, reply commands.Reply) commands.Reply {
	who := c.session.Snapshot()
	c.srv.log.Warn("a client has given the order CONFIG "+order, "options", options, "by", c.addr,
		"id", who.ID, "user", who.User, "name", who.Name, "answer", reply.Str)
	return reply
}
