package commands

import "slices"

func (s *Session) latencyLatest(c *Command, args []string) Action {
	return Action{Effect: LatencyLatestEffect{}}
}

func (s *Session) latencyHistory(c *Command, args []string) Action {
	return Action{Effect: LatencyHistoryEffect{Event: args[2]}}
}

func (s *Session) latencyDoctor(c *Command, args []string) Action {
	return Action{Effect: LatencyDoctorEffect{}}
}

func (s *Session) latencyReset(c *Command, args []string) Action {
	return Action{Effect: LatencyResetEffect{Events: slices.Clone(args[2:])}}
}

// latencyGraph draws nothing: what there is to draw LATENCY HISTORY tells.
func (s *Session) latencyGraph(c *Command, args []string) Action { return refuse(errNoGraph) }

// latencyHistogram leaves out what it does not know. Of a container it is about all that is in it.
func (s *Session) latencyHistogram(c *Command, args []string) Action {
	if len(args) == 2 {
		return Action{Effect: LatencyHistogramEffect{}}
	}
	rows := []*Command{}
	for _, name := range args[2:] {
		if row := rowNamed(name); row != nil && !slices.Contains(rows, row) {
			rows = append(append(rows, row), row.Subcommands...)
		}
	}
	return Action{Effect: LatencyHistogramEffect{Commands: rows}}
}
