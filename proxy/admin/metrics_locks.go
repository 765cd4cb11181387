package admin

import (
	"github.com/prometheus/client_golang/prometheus"

	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
)

// lockFamilies are about what the masters have decided, and what follows from it.
func lockFamilies() []family {
	families := []family{
		{describe("decisions_total", "Decisions on what clients have asked for. An attempt that is split and tried again is one, too.", "kind", "decision"), tellDecisions},
		{describe("decision_duration_seconds", "Time from reading a command until all that it asks of the masters was decided, by the kind of what is asked.", "kind"), tellLatencies},
		gauge("locks_held", "Locks that clients have taken through this proxy, and have not given back, as far as it remembers them: of some hundred thousand.",
			func(p *picture) float64 { return float64(p.LocksSeen) }),
		gauge("in_flight", "Requests that were put and are not decided yet.",
			func(p *picture) float64 { return float64(p.InFlight) }),
	}
	families = append(families, undoFamilies()...)
	return append(families,
		counter("over_max_ttl_total", "Requests whose ttl was over max-ttl, or that had none.",
			func(p *picture) float64 { return float64(p.OverMaxTTL) }),
		counter("max_hold_ends_total", "Extensions that were refused for max-hold.",
			func(p *picture) float64 { return float64(p.MaxHoldEnds) }),
		counter("toiling_scripts_total", "Calls of scripts that took a master long.",
			func(p *picture) float64 { return float64(p.ToilingScripts) }),
		gauge("subscriptions", "Masters whose messages, and what other proxies ask, can be heard.",
			func(p *picture) float64 { return float64(p.Subscriptions) }),
		counter("messages_published_total", "Messages that clients of this proxy and their scripts have published.",
			func(p *picture) float64 { return float64(p.MessagesPublished) }),
		counter("messages_short_total", "Messages of these that were put to fewer than a quorum of masters.",
			func(p *picture) float64 { return float64(p.MessagesShort) }),
		counter("messages_received_total", "Messages from other proxies.",
			func(p *picture) float64 { return float64(p.MessagesReceived) }),
	)
}

// undoFamilies are about what is taken back, given again and owed.
func undoFamilies() []family {
	return []family{
		counter("splits_total", "Attempts to acquire that nobody won, and that were undone.",
			func(p *picture) float64 { return float64(p.Splits) }),
		counter("shared_total", "Acquires that were answered by another client's attempt.",
			func(p *picture) float64 { return float64(p.Shared) }),
		counter("undos_total", "Keys that were taken back from masters that had granted them.",
			func(p *picture) float64 { return float64(p.Undos) }),
		counter("undos_missed_total", "Keys that were to be taken back and could not be: they stay until their ttl ends.",
			func(p *picture) float64 { return float64(p.UndosMissed) }),
		counter("undelivered_oks_total", "Locks that were released again, as their clients were gone before they could be told.",
			func(p *picture) float64 { return float64(p.UndeliveredOKs) }),
		counter("heals_total", "Keys that were given again to masters that had lost them.",
			func(p *picture) float64 { return float64(p.Heals) }),
		counter("debts_owed_total", "Releases and undos that could not be delivered at once.",
			func(p *picture) float64 { return float64(p.DebtsOwed) }),
		{describe("debts_ended_total", "What became of those: paid, needless as the master held nothing of it, or dropped.", "outcome"),
			func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
				count(to, as, p.DebtsPaid, "paid")
				count(to, as, p.DebtsNeedless, "needless")
				count(to, as, p.DebtsDropped, "dropped")
			}},
		gauge("debts_left", "Releases and undos that are owed now.",
			func(p *picture) float64 { return float64(p.DebtsLeft) }),
		counter("quarantines_total", "Quarantines of masters that this proxy has begun or met, in all databases in use.",
			func(p *picture) float64 { return float64(p.Quarantines) }),
		gauge("quarantined", "Quarantines of these that last.",
			func(p *picture) float64 { return float64(p.Quarantined) }),
		counter("catch_ups_total", "Catch-ups that gave a master all it had lost.",
			func(p *picture) float64 { return float64(p.CatchUps) }),
		counter("catch_up_keys_total", "Keys that masters were given by catch-ups.",
			func(p *picture) float64 { return float64(p.CatchUpKeys) }),
	}
}

func tellDecisions(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
	for kind := quorum.Acquire; kind <= quorum.Survey; kind++ {
		for d := quorum.Won; d <= quorum.Unavailable; d++ {
			count(to, as, p.Decisions[kind][d], kind.String(), d.String())
		}
	}
}

func tellLatencies(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
	for kind := quorum.Acquire; kind <= quorum.Survey; kind++ {
		latency := &p.Latencies[kind]
		n, buckets := uint64(0), make(map[float64]uint64, len(proxy.LatencyBounds))
		for i, bound := range proxy.LatencyBounds {
			n += latency.Counts[i]
			buckets[bound.Seconds()] = n
		}
		n += latency.Counts[len(proxy.LatencyBounds)]
		to <- prometheus.MustNewConstHistogram(as, n, latency.Sum.Seconds(), buckets, kind.String())
	}
}
