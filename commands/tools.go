package commands

import "math"

// What monitoring tools and drivers ask for, as far as a true answer is short: the
// proxy keeps no slow log and no latency samples, has no modules, one user, no
// replicas, and tracks no keys for clients.

func (s *Session) aclWhoAmI(c *Command, args []string) Action {
	return Action{Reply: Bulk(s.seen.User)}
}

func (s *Session) nothingListed(c *Command, args []string) Action { return Action{Reply: Array()} }
func (s *Session) nothingMapped(c *Command, args []string) Action { return Action{Reply: Map()} }
func (s *Session) latencyReset(c *Command, args []string) Action  { return Action{Reply: Integer(0)} }
func (s *Session) slowlogLen(c *Command, args []string) Action    { return Action{Reply: Integer(0)} }
func (s *Session) slowlogReset(c *Command, args []string) Action  { return Action{Reply: OK} }

func (s *Session) slowlogGet(c *Command, args []string) Action {
	if len(args) > 3 {
		return refusef("ERR unknown subcommand or wrong number of arguments for '%s'. Try SLOWLOG HELP.", quoted(args[1], errorWords))
	}
	if len(args) == 3 {
		if n, ok := parseInt(args[2]); !ok || n < -1 {
			return refuse(errSlowlogCount)
		}
	}
	return s.nothingListed(c, args)
}

// wait does not wait for replicas that there are none of, whatever the time given.
func (s *Session) wait(c *Command, args []string) Action {
	if _, ok := parseInt(args[1]); !ok {
		return refuse(errNotInteger)
	}
	switch n, ok := parseInt(args[2]); {
	case !ok, n > math.MaxInt64/1000:
		return refuse(errTimeoutNotInteger)
	case n < 0:
		return refuse(errTimeoutNegative)
	}
	return Action{Reply: Integer(0)}
}

// clientTracking refuses to switch it on: an OK without invalidations to follow
// would be a lie that a client caches by.
func (s *Session) clientTracking(c *Command, args []string) Action {
	switch lower(args[2]) {
	case "off":
		return Action{Reply: OK}
	case "on":
		return refuse(errTracking)
	}
	return refuse(errSyntax)
}

func (s *Session) clientTrackingInfo(c *Command, args []string) Action {
	return Action{Reply: Map(
		Bulk("flags"), Set(Bulk("off")),
		Bulk("redirect"), Integer(-1),
		Bulk("prefixes"), Array(),
	)}
}

func (s *Session) clientGetRedir(c *Command, args []string) Action {
	return Action{Reply: Integer(-1)}
}

// clientCapa takes note of nothing: what a client can do beyond Redis, nobody asks
// it to.
func (s *Session) clientCapa(c *Command, args []string) Action { return Action{Reply: OK} }
