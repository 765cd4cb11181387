package proxy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
)

// kinds names what is asked of masters in the lines decisions_<kind>.
var kinds = [...]string{
	quorum.Acquire: "acquire",
	quorum.Release: "release",
	quorum.Extend:  "extend",
	quorum.Read:    "read",
	quorum.Remove:  "remove",
	quorum.Write:   "write",
	quorum.Run:     "script",
	quorum.Survey:  "survey",
}

// infoQuorum is the section that no Redis has: the masters and what they decided.
func (s *Server) infoQuorum(b *strings.Builder) {
	st := s.engine.Status()
	line(b, "ready:%d", digit(s.Ready()))
	line(b, "draining:%d", digit(s.draining.Load()))
	line(b, "quorum:%d", st.Quorum)
	line(b, "masters:%d", len(st.Masters))
	withheld, debts, debtBytes := uint64(0), 0, 0
	for i := range st.Masters {
		m := &st.Masters[i]
		line(b, "master%d:%s", i, masterText(m))
		withheld += m.Withheld
		debts += m.Debts
		debtBytes += m.DebtBytes
	}
	for kind := quorum.Acquire; kind <= quorum.Survey; kind++ {
		words := make([]string, 0, quorum.Unavailable)
		for d := quorum.Won; d <= quorum.Unavailable; d++ {
			words = append(words, fmt.Sprintf("%s=%d", d, st.Decisions[kind][d]))
		}
		line(b, "decisions_%s:%s", kinds[kind], strings.Join(words, ","))
	}
	line(b, "splits:%d", st.Splits)
	line(b, "collapsed:%d", st.Shared)
	line(b, "undos:%d", st.Undos)
	line(b, "undos_missed:%d", st.UndosMissed)
	line(b, "heals:%d", st.Heals)
	line(b, "votes_withheld:%d", withheld)
	line(b, "quarantines:%d", st.Quarantines)
	line(b, "quarantined:%d", st.Quarantined)
	line(b, "catch_ups:%d", st.CatchUps)
	line(b, "catch_up_keys:%d", st.CatchUpKeys)
	line(b, "debts:%d", debts)
	line(b, "debt_bytes:%d", debtBytes)
	line(b, "debts_owed:%d", st.DebtsOwed)
	line(b, "debts_paid:%d", st.DebtsPaid)
	line(b, "debts_needless:%d", st.DebtsNeedless)
	line(b, "debts_dropped:%d", st.DebtsDropped)
	line(b, "debts_left:%d", st.DebtsLeft)
	line(b, "over_max_ttl:%d", st.OverMaxTTL)
	line(b, "undelivered_oks:%d", s.stats.undelivered.Load())
	line(b, "max_hold_ends:%d", st.MaxHoldEnds)
	line(b, "toiling_scripts:%d", s.stats.toiling.Load())
	line(b, "in_flight:%d", st.InFlight)
	line(b, "subscriptions:%d", st.Subscriptions)
	line(b, "messages_published:%d", st.MessagesPublished)
	line(b, "messages_short:%d", st.MessagesShort)
	line(b, "messages_received:%d", st.MessagesReceived)
}

// masterText is one master's line. The reason comes last, without the commas
// and line ends that would take the line apart.
func masterText(m *quorum.MasterStatus) string {
	reason := strings.NewReplacer(",", ";", "\r", " ", "\n", " ").Replace(m.Reason)
	since := time.Duration(0)
	if !m.Since.IsZero() {
		since = max(time.Since(m.Since), 0)
	}
	return fmt.Sprintf("name=%s,state=%s,since_seconds=%d,run_id=%s,version=%s,rtt_usec=%d,"+
		"granted=%d,refused=%d,unknown=%d,withheld=%d,unasked=%d,queue=%d,in_batch=%d,debts=%d,debt_bytes=%d,reconnects=%d,"+
		"quarantine_left_seconds=%s,catch_up_copied=%d,catch_up_sources=%d,catch_up_needed=%d,clock_offset_usec=%d,elsewhere=%s,reason=%s",
		m.Name, m.State, since/time.Second, m.RunID, m.Version, m.RoundTrip.Microseconds(),
		m.Granted, m.Refused, m.Unknown, m.Withheld, m.Unasked, m.Queue, m.InBatch, m.Debts, m.DebtBytes, m.Reconnects,
		leftText(m), m.CatchUp.Copied, m.CatchUp.Sources, m.CatchUp.Needed, m.ClockOffset.Microseconds(), elsewhereText(m), reason)
}

// leftText is how many seconds of its quarantine a master has left: nothing where that is not
// known, since it waits for another one.
func leftText(m *quorum.MasterStatus) string {
	if m.State == quorum.Quarantined && m.Left == 0 {
		return ""
	}
	return strconv.Itoa(int(m.Left / time.Second))
}

// elsewhereText names the databases in which a master stands otherwise than its line
// says: "3:quarantined 7:down".
func elsewhereText(m *quorum.MasterStatus) string {
	words := make([]string, len(m.Elsewhere))
	for i, e := range m.Elsewhere {
		words[i] = fmt.Sprintf("%d:%s", e.DB, e.State)
	}
	return strings.Join(words, " ")
}

func digit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
