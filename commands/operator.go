package commands

func (s *Session) lockMasters(c *Command, args []string) Action {
	return Action{Effect: MastersEffect{}}
}

func (s *Session) lockAdmit(c *Command, args []string) Action {
	return Action{Effect: AdmitEffect{Master: args[2]}}
}

func (s *Session) lockDrain(c *Command, args []string) Action {
	force := len(args) == 4 && lower(args[3]) == "force"
	if len(args) > 4 || len(args) == 4 && !force {
		return refuse(errSyntax)
	}
	return Action{Effect: DrainEffect{Master: args[2], Force: force}}
}

func (s *Session) lockResume(c *Command, args []string) Action {
	return Action{Effect: ResumeEffect{Master: args[2]}}
}
