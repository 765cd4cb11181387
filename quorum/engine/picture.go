package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
)

// quarantineStatus fills in what there is to say of a quarantine. mu is held.
func (l *lane) quarantineStatus(s *quorum.MasterStatus) {
	if l.ward == nil {
		return
	}
	s.Left = max(l.db.QuarantineTime()-l.ward.lasted(l.db.Boot()), 0)
	s.CatchUp = quorum.CatchUp{
		Copied:  l.ward.progress.Copied.Load(),
		Sources: l.ward.progress.Sources.Load(),
		Needed:  l.ward.progress.Needed.Load(),
	}
}

// clockOffsets fills in how the masters' clocks stand beside each other. Each is read once,
// as it may be seen for the first time meanwhile.
func (db *database) clockOffsets(masters []quorum.MasterStatus) {
	var clocks []time.Duration
	for i, l := range db.lanes {
		if ahead, known := l.ahead(); known {
			masters[i].ClockKnown, masters[i].ClockOffset = true, ahead
			clocks = append(clocks, ahead)
		}
	}
	slices.Sort(clocks)
	for i := range masters {
		if m := &masters[i]; m.ClockKnown {
			m.ClockOffset = (m.ClockOffset - clocks[len(clocks)/2]).Round(time.Microsecond)
		}
	}
}
