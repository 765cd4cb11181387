package doctor

// Judge tells what is wrong, the worst first.
func Judge(facts *Facts) []Finding {
	found := &findings{}
	judgeSet(facts, found)
	for i := range facts.Masters {
		m := &facts.Masters[i]
		if m.Away != "" {
			found.of(m, Breaks, "away", "it cannot be asked: "+m.Away, "it has no vote", cureOfAway(m.Away))
			continue
		}
		judgeFit(m, found)
		judgePersistence(facts, m, found)
		judgeMemory(m, found)
		judgeRights(facts, m, found)
		judgeSettings(facts, m, found)
		judgeDistance(facts, m, found)
		judgeRate(m, found)
	}
	judgeClocks(facts, found)
	judgeMarks(facts, found)
	judgeMachine(&facts.Machine, found)
	return found.sorted()
}
