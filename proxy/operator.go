package proxy

import (
	"fmt"
	"strings"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// mastersReply is the answer to LOCK MASTERS: a summary, and a map for each master, so
// that redis-cli shows one field a line.
func (s *Server) mastersReply(st quorum.Status) commands.Reply {
	list := []commands.Reply{commands.Map(
		commands.Bulk("summary"), commands.Bulk(s.grants(&st)),
		commands.Bulk("quorum"), commands.Integer(int64(st.Quorum)),
		commands.Bulk("voting"), commands.Integer(int64(st.CanVote)),
		commands.Bulk("masters"), commands.Integer(int64(len(st.Masters))),
	)}
	for i := range st.Masters {
		list = append(list, masterReply(&st.Masters[i], s.watched.troublesOf(i)))
	}
	return commands.Array(list...)
}

func masterReply(m *quorum.MasterStatus, troubles []Trouble) commands.Reply {
	pairs := appendField(nil, "name", m.Name)
	pairs = appendState(pairs, m)
	votes := appendNumber(nil, "granted", m.Granted)
	votes = appendNumber(votes, "refused", m.Refused)
	votes = appendNumber(votes, "unknown", m.Unknown)
	votes = appendNumber(votes, "withheld", m.Withheld)
	votes = appendNumber(votes, "unasked", m.Unasked)
	pairs = append(pairs, commands.Bulk("votes"), commands.Map(votes...))
	pairs = appendField(pairs, "clock-offset", clockText(m))
	pairs = appendNumber(pairs, "round-trip-us", m.RoundTrip.Microseconds())
	pairs = appendNumber(pairs, "queue", m.Queue)
	pairs = appendNumber(pairs, "in-batch", m.InBatch)
	pairs = appendNumber(pairs, "debts", m.Debts)
	pairs = appendNumber(pairs, "debt-bytes", m.DebtBytes)
	pairs = appendNumber(pairs, "reconnects", m.Reconnects)
	pairs = appendField(pairs, "run-id", m.RunID)
	pairs = appendField(pairs, "version", m.Version)
	if len(m.Elsewhere) > 0 {
		others := make([]commands.Reply, len(m.Elsewhere))
		for i := range m.Elsewhere {
			e := &m.Elsewhere[i]
			others[i] = commands.Map(appendState(appendNumber(nil, "database", e.DB), e)...)
		}
		pairs = append(pairs, commands.Bulk("elsewhere"), commands.Array(others...))
	}
	words := make([]commands.Reply, len(troubles))
	for i, tr := range troubles {
		words[len(troubles)-1-i] = commands.Bulk(tr.At.UTC().Format(time.RFC3339) + " " + tr.Text)
	}
	pairs = append(pairs, commands.Bulk("troubles"), commands.Array(words...))
	return commands.Map(pairs...)
}

func appendNumber[N int | int64 | uint64](pairs []commands.Reply, name string, n N) []commands.Reply {
	return append(pairs, commands.Bulk(name), commands.Integer(int64(n)))
}

// appendState appends what may differ between the databases of a master.
func appendState(pairs []commands.Reply, m *quorum.MasterStatus) []commands.Reply {
	since := ""
	if !m.Since.IsZero() {
		since = fmt.Sprintf("%s, %v ago", m.Since.UTC().Format(time.RFC3339), max(time.Since(m.Since), 0).Round(time.Second))
	}
	left, catchUp := "", ""
	if m.Left > 0 {
		left = m.Left.Round(time.Second).String()
	}
	if m.State == quorum.Quarantined || m.State == quorum.CatchingUp || m.Left > 0 {
		catchUp = fmt.Sprintf("copied=%d sources=%d/%d", m.CatchUp.Copied, m.CatchUp.Sources, m.CatchUp.Needed)
	}
	pairs = appendField(pairs, "state", m.State.String())
	pairs = appendField(pairs, "since", since)
	pairs = appendField(pairs, "why", m.Reason)
	pairs = appendField(pairs, "left", left)
	return appendField(pairs, "catch-up", catchUp)
}

func appendField(pairs []commands.Reply, name, value string) []commands.Reply {
	return append(pairs, commands.Bulk(name), commands.Bulk(value))
}

// clockText is by how much a master's clock is ahead of the median of all, or
// behind it.
func clockText(m *quorum.MasterStatus) string {
	if !m.ClockKnown {
		return ""
	}
	tenth := m.ClockOffset.Round(100 * time.Microsecond) // so that nothing is shown as -0.0
	return fmt.Sprintf("%+.1fms", float64(tenth)/float64(time.Millisecond))
}

// ordered notes an order about a master, and what it came to.
func (c *conn) ordered(order, master, reason string, reply commands.Reply) commands.Reply {
	lookout{c.srv}.Ordered(commands.Order{Name: order, About: master, Reason: reason, Answer: reply.Str, Refused: reply.Kind == commands.ErrorReply, By: c.session.Snapshot()})
	return reply
}

// admitMaster carries out LOCK ADMIT.
func (s *Server) admitMaster(master string) commands.Reply {
	if err := s.engine.Admit(master); err != nil {
		return orderRefused(err)
	}
	return commands.Simple("OK, but locks that master " + master + " has lost may now be given a second time, until they would have run out")
}

// drainMaster carries out LOCK DRAIN.
func (s *Server) drainMaster(master string, force bool) commands.Reply {
	if err := s.engine.Drain(master, force); err != nil {
		return orderRefused(err)
	}
	text := "OK, this proxy asks master " + master + " for no votes until LOCK RESUME or its own restart; each proxy is told for itself"
	if !s.engine.Ready() {
		text += "; now too few masters can vote for a quorum"
	}
	return commands.Simple(text)
}

// resumeMaster carries out LOCK RESUME.
func (s *Server) resumeMaster(master string) commands.Reply {
	if err := s.engine.Resume(master); err != nil {
		return orderRefused(err)
	}
	return commands.OK
}

// orderRefused is an error of one line, whatever a master said of itself.
func orderRefused(err error) commands.Reply {
	return commands.Error("ERR " + strings.Join(strings.Fields(err.Error()), " "))
}
