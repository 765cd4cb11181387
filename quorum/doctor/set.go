package doctor

import (
	"fmt"
	"strings"

	"redlock-proxy/quorum"
)

// judgeSet looks at the masters together.
func judgeSet(facts *Facts, found *findings) {
	n := len(facts.Masters)
	switch {
	case n == 1:
		found.add(Warning, "alone", nil, "there is one master", "when it is away, nobody gets a lock", "name 3 or 5 masters that fail independently")
	case n%2 == 0:
		found.add(Warning, "even", nil, fmt.Sprintf("there are %d masters, an even number", n),
			fmt.Sprintf("locks stand the loss of %d of them, as they would with %d masters", n-facts.quorum(), n-1), "add one by change-masters, or leave one out")
	}
	judgeTwins(facts, found)
	judgeVersions(facts, found)
	judgeDatabases(facts, found)
}

// judgeTwins finds one server under two names.
func judgeTwins(facts *Facts, found *findings) {
	first := make(map[string]string) // by run id
	for i := range facts.Masters {
		m := &facts.Masters[i]
		id := m.Info["run_id"]
		if twin := first[id]; twin != "" {
			found.of(m, Breaks, "twin", "it is the same server as "+twin, "a quorum counts each server once: it has no vote", "name another server, or leave one of the two out")
		} else if id != "" {
			first[id] = m.Name
		}
	}
}

// judgeVersions: a newer server dumps what an older one cannot read.
func judgeVersions(facts *Facts, found *findings) {
	var told []string
	series := make(map[string]bool)
	old := false
	for i := range facts.Masters {
		if m := &facts.Masters[i]; m.Info["redis_version"] != "" {
			version := versionOf(m)
			major, _, _ := strings.Cut(version, ".")
			series[major] = true
			told = append(told, m.Name+" "+version)
			old = old || !atLeast(m.Info["redis_version"], 7, 0)
		}
	}
	if len(series) < 2 {
		return
	}
	means := "an older one that has lost its memory cannot be given hashes, lists, sets and sorted sets of more than 64 KiB by a newer one: with such it votes again when max-ttl is over, and not sooner"
	if old {
		means += "; and scripts that catch errors by pcall hear other texts from 6.2"
	}
	found.add(Warning, "versions", nil, "the masters are of several versions: "+strings.Join(told, ", "), means, "run the same version on all of them")
}

func versionOf(m *Master) string {
	if v := m.Info["valkey_version"]; v != "" {
		return "valkey-" + v
	}
	return m.Info["redis_version"]
}

// judgeDatabases: what is held in a database that a master lacks, it cannot remember.
func judgeDatabases(facts *Facts, found *findings) {
	most, holder := 0, ""
	for i := range facts.Masters {
		if m := &facts.Masters[i]; len(m.Marks) > most {
			most, holder = len(m.Marks), m.Name
		}
	}
	for i := range facts.Masters {
		m := &facts.Masters[i]
		if has := len(m.Marks); has > 0 && has < most {
			found.of(m, Breaks, "databases", fmt.Sprintf("it has %d databases, and %s has %d", has, holder, most),
				fmt.Sprintf("it has no vote in databases %d to %d, and bootstrap refuses the set", has, most-1), fmt.Sprintf("start all masters with the same number in databases, as %d", quorum.Databases))
		}
	}
}
