package doctor

import (
	"fmt"
	"slices"
	"time"

	"redlock-proxy/quorum/clock"
)

// judgeDistance weighs a master's round trip against what it has time for.
func judgeDistance(facts *Facts, m *Master, found *findings) {
	if len(m.RoundTrips) == 0 {
		return
	}
	trips := slices.Sorted(slices.Values(m.RoundTrips))
	best, median := trips[0], trips[len(trips)/2]
	limit := min(facts.acquireTimeout(), facts.MasterTimeout)
	const cure = "raise acquire-timeout and master-timeout, with all proxies of the set, or use masters that are nearer"
	switch {
	case best >= limit:
		found.of(m, Breaks, "far", fmt.Sprintf("the quickest of %d round trips to it took %v, and it has %v", len(trips), round(best), limit),
			"no vote of it comes in time", cure)
	case median >= limit/4:
		found.of(m, Warning, "far", fmt.Sprintf("a round trip to it takes %v, and it has %v", round(median), limit),
			"a lock that takes several, as one that is contended does, may not be decided in time: NOQUORUM", cure)
	}
}

// judgeRate tells whether a clock runs otherwise than ours, where that is beyond doubt: between
// two looks at it there went by, by ours, at least the time from when the first was answered to
// when the second was asked for, and at most that from asking to answer.
func judgeRate(m *Master, found *findings) {
	if len(m.Readings) < 2 {
		return
	}
	first, last := m.Readings[0], m.Readings[len(m.Readings)-1]
	theirs := last.Theirs.Sub(first.Theirs)
	least, most := last.Sent.Sub(first.Read), last.Read.Sub(first.Sent)
	if theirs <= most+clock.Drift(most) && theirs >= least-clock.Drift(least) {
		return
	}
	found.of(m, Breaks, "clock-rate", fmt.Sprintf("%v went by on its clock, and %v on ours: it runs otherwise by more than one in a hundred, or was set meanwhile", round(theirs), round(most)),
		"locks end there too early or too late; where it is set, it is kept from voting for a while",
		"have it follow the time by small steps (chrony or ntpd, without a step), and no virtual machine that is paused")
}

// judgeClocks compares the clocks with each other, and with ours.
func judgeClocks(facts *Facts, found *findings) {
	var offsets, sorted []time.Duration
	var masters []*Master
	for i := range facts.Masters {
		if m := &facts.Masters[i]; m.Away == "" && len(m.Readings) > 0 {
			r := m.Readings[len(m.Readings)-1]
			offsets = append(offsets, r.Theirs.Sub(r.Sent.Add(r.Read.Sub(r.Sent)/2)))
			masters = append(masters, m)
		}
	}
	sorted = slices.Clone(offsets)
	median, known := clock.TimeOfDay(sorted, facts.quorum())
	const cure = "have all machines ask the same servers for the time (chrony or ntpd)"
	if !known {
		if len(masters) >= facts.quorum() {
			found.add(Warning, "clocks", nil, "no quorum of masters has clocks within "+clock.AlikeClocks.String()+" of each other",
				"the time of day is not known: what names one, as EXPIREAT or SET with PXAT, is refused", cure)
		}
		return
	}
	for i, m := range masters {
		if off := offsets[i] - median; off.Abs() > clock.AlikeClocks {
			found.of(m, Warning, "clock", fmt.Sprintf("its clock is %s that of the other masters", ahead(off)),
				"nothing by itself; but when it is set right in one step, it is kept from voting for a while", cure)
		}
	}
	if median.Abs() > clock.AlikeClocks {
		found.add(Warning, "own-clock", nil, fmt.Sprintf("the clock of this machine is %s that of the masters", ahead(-median)),
			"nothing for locks; the log, and what is told of times here, is off by that", cure)
	}
}

// ahead says on which side of another clock one is.
func ahead(off time.Duration) string {
	if off < 0 {
		return round(-off).String() + " behind"
	}
	return round(off).String() + " ahead of"
}

// round leaves three digits or so.
func round(d time.Duration) time.Duration {
	switch {
	case d.Abs() > 10*time.Second:
		return d.Round(time.Second)
	case d.Abs() > 10*time.Millisecond:
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
