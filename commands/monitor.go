package commands

// monitor has the client be told of every command from now on. One that is told already hears
// nothing of this, as on Redis.
func (s *Session) monitor(c *Command, args []string) Action {
	if s.seen.Monitors {
		return Action{}
	}
	s.seen.Monitors = true
	return Action{Effect: MonitorEffect{}}
}

// asksForKeys tells of a command that it is about keys or channels, which who monitors may not ask
// for until RESET: to Redis that is a kind of replica.
func (c *Command) asksForKeys() bool {
	return c.HasFlag("write") || c.HasFlag("readonly") || c.HasFlag("may_replicate")
}

// Monitored tells whether MONITOR shows what came to a: all but what could not be carried out, and
// what operators order.
func (a *Action) Monitored() bool {
	return !a.Rejected && (a.Command == nil || !a.Command.HasFlag("admin"))
}
