package commands

func (s *Session) memoryDoctor(c *Command, args []string) Action {
	return Action{Effect: MemoryDoctorEffect{}}
}

func (s *Session) memoryStats(c *Command, args []string) Action {
	return Action{Effect: MemoryStatsEffect{}}
}

func (s *Session) memoryPurge(c *Command, args []string) Action {
	return Action{Effect: MemoryPurgeEffect{}}
}

// memoryMallocStats says what Redis says where it is not built with an allocator that tells more.
func (s *Session) memoryMallocStats(c *Command, args []string) Action {
	return Action{Reply: Bulk("Stats not supported for the current allocator")}
}
