package doctor

import "fmt"

// judgePersistence weighs what a master keeps on disk against what its restarts cost by that.
func judgePersistence(facts *Facts, m *Master, found *findings) {
	aof, told := m.Settings["appendonly"]
	name, what, cure := "", "", ""
	switch {
	case !told:
		return // judgeRights tells of it
	case aof != "yes":
		name, what, cure = "no-aof", "it keeps nothing on disk that it could come back with (appendonly no)", "CONFIG SET appendfsync always, CONFIG SET appendonly yes, CONFIG REWRITE"
	case m.Settings["appendfsync"] != "always":
		name, cure = "fsync", "CONFIG SET appendfsync always, CONFIG REWRITE"
		what = fmt.Sprintf("its AOF may lack what it answered last (appendfsync %s)", m.Settings["appendfsync"])
	case m.Settings["no-appendfsync-on-rewrite"] == "yes":
		name, cure = "fsync-on-rewrite", "CONFIG SET no-appendfsync-on-rewrite no, CONFIG REWRITE"
		what = "its AOF may lack what it answered while that was being rewritten (no-appendfsync-on-rewrite yes)"
	default:
		return
	}
	if len(facts.Masters) == 1 {
		found.of(m, Breaks, name, what, "it stands alone: when it is started again, locks that it has forgotten can be given a second time", cure)
		return
	}
	means := fmt.Sprintf("a restart of it alone costs no lock, as it does not vote before the others have given it what it lost; of %d masters at once, nobody gets a lock for %v",
		facts.quorum(), facts.maxTTL())
	found.of(m, Warning, name, what, means, cure+"; or leave it so, if that is less than what a write to disk for each lock costs")
}
