package proxy

import (
	"math/bits"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
)

// buckets are how many kinds of calls are told apart by how long they took: up to 1, 2, 4, 8 …
// microseconds. The last one has all that took longer than a minute, too.
const buckets = 28

// histogram counts calls by how long they took. To add one is one atomic step.
type histogram [buckets]atomic.Uint64

// tallies is a picture of a histogram.
type tallies [buckets]uint64

func (h *histogram) add(took time.Duration) { h[bucketOf(took)].Add(1) }

func bucketOf(took time.Duration) int {
	return min(bits.Len64(uint64(max(took-1, 0)/time.Microsecond)), buckets-1)
}

// microseconds is what a call of a bucket took at most.
func microseconds(bucket int) int64 { return 1 << bucket }

func (h *histogram) counts() (t tallies) {
	for i := range h {
		t[i] = h[i].Load()
	}
	return t
}

func (t tallies) calls() (n uint64) {
	for _, count := range t {
		n += count
	}
	return n
}

// percentile is how many microseconds so many thousandths of the calls took at most, of which
// there are some.
func (t tallies) percentile(thousandths uint64) int64 {
	need := (t.calls()*thousandths + 999) / 1000
	n := uint64(0)
	for i, count := range t {
		if n += count; n >= need {
			return microseconds(i)
		}
	}
	return microseconds(buckets - 1)
}

// reply is a command in LATENCY HISTOGRAM: how many calls took so long or less, told where it is
// more than before.
func (t tallies) reply() commands.Reply {
	var pairs []commands.Reply
	n := uint64(0)
	for i, count := range t {
		if n += count; count > 0 {
			pairs = append(pairs, commands.Integer(microseconds(i)), commands.Integer(int64(n)))
		}
	}
	return commands.Map(commands.Bulk("calls"), commands.Integer(int64(n)), commands.Bulk("histogram_usec"), commands.Map(pairs...))
}

// histograms is the reply to LATENCY HISTOGRAM: of the rows asked for, those that were called.
func (s *stats) histograms(rows []*commands.Command) commands.Reply {
	if rows == nil {
		rows = s.inOrder()
	}
	var pairs []commands.Reply
	for _, c := range rows {
		if t := s.commands[c.Index].took.counts(); t.calls() > 0 {
			pairs = append(pairs, commands.Bulk(c.Name), t.reply())
		}
	}
	return commands.Map(pairs...)
}

func (t *infoText) latencyStats() {
	for _, c := range t.srv.stats.inOrder() {
		if took := t.srv.stats.commands[c.Index].took.counts(); took.calls() > 0 {
			t.line("latency_percentiles_usec_%s:p50=%d.000,p99=%d.000,p99.9=%d.000",
				c.Name, took.percentile(500), took.percentile(990), took.percentile(999))
		}
	}
}
