package proxy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
)

// quorum is the section that no Redis has: the masters and what they decided.
func (t *infoText) quorum() {
	st := t.srv.engine.Status()
	t.line("ready:%d", digit(t.srv.Ready()))
	t.line("draining:%d", digit(t.srv.Draining()))
	t.line("quorum:%d", st.Quorum)
	t.line("masters:%d", len(st.Masters))
	withheld, debts, debtBytes := uint64(0), 0, 0
	for i := range st.Masters {
		m := &st.Masters[i]
		t.line("master%d:%s", i, masterText(m))
		withheld += m.Withheld
		debts += m.Debts
		debtBytes += m.DebtBytes
	}
	for kind := quorum.Acquire; kind <= quorum.Survey; kind++ {
		words := make([]string, 0, quorum.Unavailable)
		for d := quorum.Won; d <= quorum.Unavailable; d++ {
			words = append(words, fmt.Sprintf("%s=%d", d, st.Decisions[kind][d]))
		}
		t.line("decisions_%s:%s", kind, strings.Join(words, ","))
	}
	t.line("splits:%d", st.Splits)
	t.line("collapsed:%d", st.Shared)
	t.line("undos:%d", st.Undos)
	t.line("undos_missed:%d", st.UndosMissed)
	t.line("heals:%d", st.Heals)
	t.line("votes_withheld:%d", withheld)
	t.line("quarantines:%d", st.Quarantines)
	t.line("quarantined:%d", st.Quarantined)
	t.line("catch_ups:%d", st.CatchUps)
	t.line("catch_up_keys:%d", st.CatchUpKeys)
	t.line("debts:%d", debts)
	t.line("debt_bytes:%d", debtBytes)
	t.line("debts_owed:%d", st.DebtsOwed)
	t.line("debts_paid:%d", st.DebtsPaid)
	t.line("debts_needless:%d", st.DebtsNeedless)
	t.line("debts_dropped:%d", st.DebtsDropped)
	t.line("debts_left:%d", st.DebtsLeft)
	t.line("over_max_ttl:%d", st.OverMaxTTL)
	t.line("undelivered_oks:%d", t.srv.stats.undelivered.Load())
	t.line("max_hold_ends:%d", st.MaxHoldEnds)
	t.line("toiling_scripts:%d", t.srv.stats.toiling.Load())
	t.line("in_flight:%d", st.InFlight)
	t.line("subscriptions:%d", st.Subscriptions)
	t.line("messages_published:%d", st.MessagesPublished)
	t.line("messages_short:%d", st.MessagesShort)
	t.line("messages_received:%d", st.MessagesReceived)
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
