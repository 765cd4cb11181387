package commands

import "strings"

func (s *Session) lockMasters(c *Command, args []string) Action {
	return Action{Effect: MastersEffect{}}
}

func (s *Session) lockAdmit(c *Command, args []string) Action {
	reason, ok := ReasonOf(args[3:])
	if !ok {
		return refuse(errSyntax)
	}
	return Action{Effect: AdmitEffect{Master: args[2], Reason: reason}}
}

func (s *Session) lockDrain(c *Command, args []string) Action {
	words := args[3:]
	force := len(words) > 0 && sameWord(words[0], "force")
	if force {
		words = words[1:]
	}
	reason, ok := ReasonOf(words)
	if !ok {
		return refuse(errSyntax)
	}
	return Action{Effect: DrainEffect{Master: args[2], Force: force, Reason: reason}}
}

func (s *Session) lockResume(c *Command, args []string) Action {
	reason, ok := ReasonOf(args[3:])
	if !ok {
		return refuse(errSyntax)
	}
	return Action{Effect: ResumeEffect{Master: args[2], Reason: reason}}
}

// ReasonOf is why an operator gives an order, by the words at its end: none, or REASON and a text.
func ReasonOf(words []string) (reason string, ok bool) {
	if len(words) == 0 {
		return "", true
	}
	return oneLine(strings.Join(words[1:], " ")), len(words) > 1 && sameWord(words[0], "reason")
}
