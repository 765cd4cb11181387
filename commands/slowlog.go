package commands

// slowlogCount is how many entries SLOWLOG GET tells without a number.
const slowlogCount = 10

func (s *Session) slowlogGet(c *Command, args []string) Action {
	if len(args) > 3 {
		return refusef("ERR unknown subcommand or wrong number of arguments for '%s'. Try SLOWLOG HELP.", quoted(args[1], errorWords))
	}
	count := int64(slowlogCount)
	if len(args) == 3 {
		n, ok := parseInt(args[2])
		if !ok || n < -1 {
			return refuse(errSlowlogCount)
		}
		count = n
	}
	return Action{Effect: SlowlogGetEffect{Count: count}}
}

func (s *Session) slowlogLen(c *Command, args []string) Action {
	return Action{Effect: SlowlogLenEffect{}}
}

func (s *Session) slowlogReset(c *Command, args []string) Action {
	return Action{Effect: SlowlogResetEffect{}}
}
