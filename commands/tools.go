package commands

// What monitoring tools and drivers ask for, as far as a true answer is short: the
// proxy has no modules, no replicas, and tracks no keys for clients.

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

// clientTracking refuses to switch it on: an OK without invalidations to follow
// would be a lie that a client caches by.
func (s *Session) clientTracking(c *Command, args []string) Action {
	for words := args[3:]; len(words) > 0; words = words[1:] {
		switch option := lower(words[0]); {
		case option == "redirect" && len(words) > 1:
			switch id, ok := parseInt(words[1]); {
			case !ok:
				return refuse(errNotInteger)
			case id != s.seen.ID:
				return refuse(errRedirect) // of the others it does not know
			}
			words = words[1:]
		case option == "prefix" && len(words) > 1:
			words = words[1:]
		case option == "bcast", option == "optin", option == "optout", option == "noloop":
		default:
			return refuse(errSyntax)
		}
	}
	switch lower(args[2]) {
	case "on":
		return refuse(errTracking)
	case "off":
		return Action{Reply: OK}
	}
	return refuse(errSyntax)
}

// clientCaching is about the next command of a client that tracks, and none does.
func (s *Session) clientCaching(c *Command, args []string) Action { return refuse(errCaching) }

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
