package proxy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// latency is what took long of late, by events as in Redis: command, fast-command, and of each
// master whose batches take long one of its own, master-NAME.
type latency struct {
	from atomic.Int64 // nanoseconds

	mu     sync.Mutex // guards what follows
	events map[string]*latencyEvent
}

// latencySamples is how many are kept of an event, each the longest of its second, as in Redis.
const latencySamples = 160

// latencyEvent is what is known of one.
type latencyEvent struct {
	samples []latencySample // the oldest is at next, once they are all there
	next    int
	longest latencySample // since the reset
}

type latencySample struct {
	at   int64 // Unix time
	took int64 // milliseconds
	what string
}

// add notes that something took long. There is an event for each master and two more, and no
// further ones.
func (l *latency) add(event, what string, now time.Time, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.events[event]
	if e == nil {
		if l.events == nil {
			l.events = make(map[string]*latencyEvent)
		}
		e = &latencyEvent{}
		l.events[event] = e
	}
	e.add(latencySample{now.Unix(), took.Milliseconds(), what})
}

func (e *latencyEvent) add(s latencySample) {
	if s.took > e.longest.took || e.longest.at == 0 {
		e.longest = s
	}
	if n := len(e.samples); n > 0 {
		if last := &e.samples[(e.next+n-1)%n]; last.at == s.at {
			if s.took > last.took {
				*last = s
			}
			return
		}
	}
	if len(e.samples) < latencySamples {
		e.samples = append(e.samples, s)
		return
	}
	e.samples[e.next] = s
	e.next = (e.next + 1) % latencySamples
}

// inOrder is the samples, oldest first.
func (e *latencyEvent) inOrder() []latencySample {
	return slices.Concat(e.samples[e.next:], e.samples[:e.next])
}

// latest is the reply to LATENCY LATEST: of each event when it was last, how long that took, and
// how long the longest, in milliseconds.
func (l *latency) latest() commands.Reply {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []commands.Reply
	for _, name := range slices.Sorted(maps.Keys(l.events)) {
		samples := l.events[name].inOrder()
		last := samples[len(samples)-1]
		list = append(list, commands.Array(commands.Bulk(name), commands.Integer(last.at),
			commands.Integer(last.took), commands.Integer(l.events[name].longest.took)))
	}
	return commands.Array(list...)
}

func (l *latency) history(event string) commands.Reply {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []commands.Reply
	if e := l.events[event]; e != nil {
		for _, s := range e.inOrder() {
			list = append(list, commands.Array(commands.Integer(s.at), commands.Integer(s.took)))
		}
	}
	return commands.Array(list...)
}

// reset forgets these events, or all if none is named, and tells how many there were.
func (l *latency) reset(events []string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(events) == 0 {
		events = slices.Collect(maps.Keys(l.events))
	}
	for _, name := range events {
		if l.events[name] != nil {
			delete(l.events, name)
			n++
		}
	}
	return n
}

// sampleMasters is the sampler's: it notes the masters whose batches take long.
func (s *Server) sampleMasters() {
	from := s.latency.from.Load()
	if from == never {
		return
	}
	for _, m := range s.engine.Status().Masters {
		if int64(m.RoundTrip) >= from {
			s.latency.add("master-"+m.Name, "round trip", time.Now(), m.RoundTrip)
		}
	}
}

// latencyDoctor is what LATENCY DOCTOR says: which commands and masters were slow.
func (s *Server) latencyDoctor() string {
	from := s.latency.from.Load()
	if from == never {
		return "Nothing is known of what took long: latency-monitor-threshold is 0. Set it to as many milliseconds as are long for you, " +
			"as by CONFIG SET latency-monitor-threshold 100. LATENCY HISTOGRAM and INFO latencystats tell how long commands take in any case.\n"
	}
	var b strings.Builder
	s.latency.mu.Lock()
	if len(s.latency.events) == 0 {
		fmt.Fprintf(&b, "No command and no master has taken %v or longer since the last reset.\n", time.Duration(from))
	}
	for _, name := range slices.Sorted(maps.Keys(s.latency.events)) {
		b.WriteString(s.latency.events[name].describe(name))
	}
	s.latency.mu.Unlock()
	b.WriteString("The masters as they are now:\n")
	st := s.engine.Status()
	for i := range st.Masters {
		b.WriteString(prognosis(&st.Masters[i], time.Duration(from)))
	}
	return b.String()
}

// describe is a line of LATENCY DOCTOR.
func (e *latencyEvent) describe(name string) string {
	samples := e.inOrder()
	sum := int64(0)
	for _, s := range samples {
		sum += s.took
	}
	last, longest := samples[len(samples)-1], e.longest
	return fmt.Sprintf("%s: long in %d different seconds, %d ms on average; the longest took %d ms at %s (%s), the last one %d ms at %s (%s).\n",
		name, len(samples), sum/int64(len(samples)), longest.took, clockTime(longest.at), longest.what, last.took, clockTime(last.at), last.what)
}

func clockTime(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

// prognosis is a line about one master: what it takes, and what that means.
func prognosis(m *quorum.MasterStatus, long time.Duration) string {
	text := fmt.Sprintf("%s: %v, round trip %s, %d requests wait", m.Name, m.State, roundTripText(m), m.Queue)
	switch {
	case m.State != quorum.Voting && m.Reason != "":
		text += "; it does not vote: " + strings.Join(strings.Fields(m.Reason), " ")
	case m.RoundTrip >= long:
		text += "; it is slow: look at its SLOWLOG and LATENCY, at what its disk and its machine do, and at the way there. Decisions wait for it only where they need its vote"
	}
	return text + ".\n"
}

// roundTripText is ASCII: redis-cli shows the bytes of anything else.
func roundTripText(m *quorum.MasterStatus) string {
	return strings.ReplaceAll(m.RoundTrip.Round(time.Microsecond).String(), "µ", "u")
}
