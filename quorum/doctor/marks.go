package doctor

import (
	"errors"
	"fmt"
	"slices"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// judgeMarks tells which masters may not vote by what stands in their markers, and why. Between
// one master alone and its proxies there is none.
func judgeMarks(facts *Facts, found *findings) {
	if len(facts.Masters) == 1 {
		judgeLone(&facts.Masters[0], found)
		return
	}
	installations := make(map[string][]string) // the masters that bear its markers
	unmarked, all := []string{}, true          // all masters show what they are to this set
	for i := range facts.Masters {
		m := &facts.Masters[i]
		if len(m.Marks) == 0 { // it cannot be asked, or does not show them
			all = false
			continue
		}
		marks, ok := readMarks(facts, m, found)
		if !ok {
			all = false
			continue
		}
		installation := ""
		for _, mark := range marks {
			if mark.Nonce != "" && installation == "" {
				installation = mark.Installation
			}
		}
		if installation == "" {
			unmarked = append(unmarked, m.Name)
			continue
		}
		installations[installation] = append(installations[installation], m.Name)
		judgeQuarantine(m, marks, found)
	}
	judgeInstallations(facts, installations, unmarked, all, found)
}

func judgeLone(m *Master, found *findings) {
	for _, text := range m.Marks {
		if text != "" {
			what := "it bears a marker"
			if mark, err := marker.Parse(text); err == nil {
				what = "it bears the marker of a set, which has " + mark.Terms.String()
			}
			found.of(m, Breaks, "marker", what, "a proxy that is given it alone does not start", "name all masters of its set; or, if it is nobody's any more, DEL "+quorum.MarkerKey+" there in every database")
			return
		}
	}
}

// readMarks reads the markers of a master that is of this set, or might be. ok is false of any other.
func readMarks(facts *Facts, m *Master, found *findings) (marks []marker.Marker, ok bool) {
	for db, text := range m.Marks {
		var mark marker.Marker
		if text != "" {
			var err error
			if mark, err = marker.Parse(text); err != nil {
				found.of(m, Breaks, "marker", fmt.Sprintf("in database %d: %v", db, err), "it has no vote", "GET "+quorum.MarkerKey+" there, find out who wrote that, and DEL it")
				return nil, false
			}
		}
		if why := foreign(facts, m, mark); why != nil {
			found.of(m, Breaks, "foreign", "its marker is of another set: "+why.Error(), "it has no vote, and proxies with this configuration do not serve",
				"configure all proxies of the set alike; change-masters makes another set of one")
			return nil, false
		}
		marks = append(marks, mark)
	}
	return marks, true
}

// foreign says why a marker is not one of this configuration's.
func foreign(facts *Facts, m *Master, mark marker.Marker) error {
	switch {
	case mark.Nonce == "":
		return nil
	case !mark.Terms.Equal(facts.Terms):
		return &marker.OtherTerms{Theirs: mark, Ours: facts.Terms, Name: m.Name}
	case mark.Changing:
		return marker.ErrChanging
	case mark.Member != m.Name && mark.RunID == m.Info["run_id"]:
		return marker.Twin(mark.Member)
	case mark.Member != m.Name:
		return errors.New("it is that of " + mark.Member)
	}
	return nil
}

// judgeQuarantine tells why a master of the set has no vote now.
func judgeQuarantine(m *Master, marks []marker.Marker, found *findings) {
	var databases []int
	why := ""
	for db, mark := range marks {
		text := voteless(m, mark)
		if text != "" {
			databases = append(databases, db)
			if why == "" {
				why = text
			}
		}
	}
	if len(databases) == 0 {
		return
	}
	where := "in all databases"
	if len(databases) < len(marks) {
		where = fmt.Sprintf("in %d of %d databases, the first being %d", len(databases), len(marks), databases[0])
	}
	found.of(m, Breaks, "quarantined", fmt.Sprintf("it is quarantined %s: %s", where, why),
		"it has no vote, and would have forgotten locks that it had granted",
		"none is needed while a proxy runs: it gives back what was lost, and lets it vote then, or when max-ttl is over; status tells how far that is")
}

// voteless is why a master of the set may not vote by its marker in a database, "" if it may. A
// server that does not show its run id need not have been started anew.
func voteless(m *Master, mark marker.Marker) string {
	id := m.Info["run_id"]
	switch {
	case mark.Nonce == "":
		return "its marker is gone"
	case mark.Nonce.Provisional() && mark.Why != "":
		return mark.Why
	case mark.Nonce.Provisional():
		return "it may have lost locks"
	case id != "" && mark.RunID != id && !mark.Durable:
		return "its process was started anew, and no proxy has let it vote since"
	}
	return ""
}

// judgeInstallations tells of masters that are not marked together.
func judgeInstallations(facts *Facts, installations map[string][]string, unmarked []string, all bool, found *findings) {
	if len(installations) > 1 {
		names := []string{}
		for _, masters := range installations {
			names = append(names, masters...)
		}
		slices.Sort(names)
		found.add(Breaks, "installations", names, fmt.Sprintf("their markers are of %d installations, which were marked apart", len(installations)),
			"those of one of them have no vote before max-ttl is over", "start one proxy that reaches all masters, and wait: it makes them one; FLUSHALL a server that was of another set before it joins")
	}
	switch {
	case len(unmarked) == 0:
	case len(installations) == 0 && all:
		found.add(Breaks, "unmarked", unmarked, "no marker stands there: the set is new, or has lost everything",
			fmt.Sprintf("they have no vote before a proxy has run for max-ttl, %v", facts.maxTTL()), "start a proxy and wait; or bootstrap --no-locks-held, if you know that nobody holds a lock")
	case len(installations) == 0:
		found.add(Breaks, "unmarked", unmarked, "no marker stands there, and not all masters show one of this set's", "they have no vote before the others do", "see to those first that cannot be asked, or are of another set")
	default:
		found.add(Breaks, "unmarked", unmarked, "no marker stands there, as with a master that has lost its memory or is new to the set",
			"it has no vote", "none is needed while a proxy runs, which gives it back what it lost, or lets it vote when max-ttl is over; bootstrap does not, so start one")
	}
}
