package commands

// What monitoring tools and drivers ask for, as far as a true answer is short: the
// proxy has no modules and no replicas.

func (s *Session) nothingListed(c *Command, args []string) Action { return Action{Reply: Array()} }

// wait does not wait for replicas that there are none of, whatever the time given.
func (s *Session) wait(c *Command, args []string) Action {
	if _, ok := parseInt(args[1]); !ok {
		return refuse(errNotInteger)
	}
	switch n, ok := parseInt(args[2]); {
	case !ok:
		return refuse(errTimeoutNotInteger)
	case n < 0:
		return refuse(errTimeoutNegative)
	}
	return Action{Reply: Integer(0)}
}

// clientUnblock is about a client whose acquire waits for a lock.
func (s *Session) clientUnblock(c *Command, args []string) Action {
	switch {
	case len(args) > 4:
		return refusef("ERR unknown subcommand or wrong number of arguments for '%s'. Try CLIENT HELP.", quoted(args[1], errorWords))
	case len(args) == 4 && !sameWord(args[3], "timeout") && !sameWord(args[3], "error"):
		return refuse(errUnblock)
	}
	id, ok := parseInt(args[2])
	if !ok {
		return refuse(errNotInteger)
	}
	return Action{Effect: ClientUnblockEffect{ID: id, Error: len(args) == 4 && sameWord(args[3], "error")}}
}

// clientUnpause ends no pause: there is no CLIENT PAUSE.
func (s *Session) clientUnpause(c *Command, args []string) Action { return Action{Reply: OK} }

// clientCapa takes note of nothing: what a client can do beyond Redis, nobody asks
// it to.
func (s *Session) clientCapa(c *Command, args []string) Action { return Action{Reply: OK} }
