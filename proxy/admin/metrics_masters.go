package admin

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"redlock-proxy/quorum"
)

// masterFamilies are about the masters, each under the name that it has in the set.
func masterFamilies() []family {
	families := []family{
		gauge("quorum_size", "How many masters have to agree.",
			func(p *picture) float64 { return float64(p.Quorum) }),
		gauge("masters", "Masters that are configured.",
			func(p *picture) float64 { return float64(len(p.Masters)) }),
		gauge("masters_voting", "Masters that can vote.",
			func(p *picture) float64 { return float64(p.CanVote) }),
		{describe("master_state", "1 for the state in which a master is in database 0, and 0 for all others.", "master", "state"), tellStates},
		{describe("master_elsewhere", "1 for the state in which a master is in another database, where it is another one.", "master", "database", "state"), tellElsewhere},
		{describe("master_info", "Which server a master is. Always 1.", "master", "run_id", "version"),
			func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
				for i := range p.Masters {
					m := &p.Masters[i]
					to <- prometheus.MustNewConstMetric(as, prometheus.GaugeValue, 1, label(m.Name), label(m.RunID), label(m.Version))
				}
			}},
		{describe("master_votes_total", "What masters have voted: granted, refused, unknown, withheld; or that they were not asked.", "master", "vote"), tellVotes},
		{describe("master_batch_commands", "How many commands were in the batches that a master was sent.", "master"), tellBatches},
	}
	families = append(families, masterGauges()...)
	return append(families, perMaster("master_reconnects_total", "How often the connection to a master was made anew.", prometheus.CounterValue,
		func(m *quorum.MasterStatus) (float64, bool) { return float64(m.Reconnects), true }))
}

// masterGauges are those figures of a master that there is one of.
func masterGauges() []family {
	gauge := func(name, help string, read func(*quorum.MasterStatus) (float64, bool)) family {
		return perMaster(name, help, prometheus.GaugeValue, read)
	}
	return []family{
		gauge("master_state_since_timestamp_seconds", "When a master's state began.",
			func(m *quorum.MasterStatus) (float64, bool) {
				return float64(m.Since.UnixNano()) / 1e9, !m.Since.IsZero()
			}),
		gauge("master_round_trip_seconds", "Time that batches take to a master and back, a moving average. Missing before the first.",
			func(m *quorum.MasterStatus) (float64, bool) { return m.RoundTrip.Seconds(), m.RoundTrip > 0 }),
		gauge("master_clock_offset_seconds", "By how much a master's clock is ahead of the median of all masters' clocks. Missing while that is not known.",
			func(m *quorum.MasterStatus) (float64, bool) { return m.ClockOffset.Seconds(), m.ClockKnown }),
		gauge("master_queue", "Requests that wait for a master's next batch.",
			func(m *quorum.MasterStatus) (float64, bool) { return float64(m.Queue), true }),
		gauge("master_in_batch", "Commands that are on their way to a master.",
			func(m *quorum.MasterStatus) (float64, bool) { return float64(m.InBatch), true }),
		gauge("master_debts", "Releases and undos that a master is owed.",
			func(m *quorum.MasterStatus) (float64, bool) { return float64(m.Debts), true }),
		gauge("master_debts_bytes", "How long those are.",
			func(m *quorum.MasterStatus) (float64, bool) { return float64(m.DebtBytes), true }),
		gauge("master_quarantine_left_seconds", "How long a master's quarantine lasts yet if nothing ends it earlier. Missing while that hangs on other masters.",
			func(m *quorum.MasterStatus) (float64, bool) {
				return m.Left.Seconds(), m.Left > 0 || m.State != quorum.Quarantined
			}),
		gauge("master_catch_up_copied_keys", "Keys that the present or last catch-up of a master has given it.",
			func(m *quorum.MasterStatus) (float64, bool) { return float64(m.CatchUp.Copied), true }),
		gauge("master_catch_up_sources", "Masters that this catch-up has read to their end.",
			func(m *quorum.MasterStatus) (float64, bool) { return float64(m.CatchUp.Sources), true }),
		gauge("master_catch_up_sources_needed", "How many it has to.",
			func(m *quorum.MasterStatus) (float64, bool) { return float64(m.CatchUp.Needed), true }),
	}
}

// perMaster is a metric of each master of which it is known.
func perMaster(name, help string, kind prometheus.ValueType, read func(*quorum.MasterStatus) (float64, bool)) family {
	return family{describe(name, help, "master"), func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
		for i := range p.Masters {
			if value, known := read(&p.Masters[i]); known {
				to <- prometheus.MustNewConstMetric(as, kind, value, label(p.Masters[i].Name))
			}
		}
	}}
}

func tellStates(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
	for i := range p.Masters {
		m := &p.Masters[i]
		for state := quorum.Down; state <= quorum.Drained; state++ {
			to <- prometheus.MustNewConstMetric(as, prometheus.GaugeValue, number(m.State == state), label(m.Name), state.String())
		}
	}
}

func tellElsewhere(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
	for i := range p.Masters {
		m := &p.Masters[i]
		for _, e := range m.Elsewhere {
			to <- prometheus.MustNewConstMetric(as, prometheus.GaugeValue, 1, label(m.Name), strconv.Itoa(e.DB), e.State.String())
		}
	}
}

func tellVotes(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
	for i := range p.Masters {
		m := &p.Masters[i]
		name := label(m.Name)
		count(to, as, m.Granted, name, quorum.Granted.String())
		count(to, as, m.Refused, name, quorum.Refused.String())
		count(to, as, m.Unknown, name, quorum.Unknown.String())
		count(to, as, m.Withheld, name, quorum.Withheld.String())
		count(to, as, m.Unasked, name, "unasked")
	}
}

func tellBatches(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
	for i := range p.Masters {
		m := &p.Masters[i]
		n, buckets := uint64(0), make(map[float64]uint64, quorum.BatchSizes)
		for size, batches := range m.Batches {
			if n += batches; size < quorum.BatchSizes-1 {
				buckets[float64(int(1)<<size)] = n
			}
		}
		to <- prometheus.MustNewConstHistogram(as, n, float64(m.Batched), buckets, label(m.Name))
	}
}
