package clients

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration"
)

// halfway is how long a counter has run when a master dies.
const halfway = 2 * time.Second

// settled is how long all masters have voted by then: what one was asked just before it was
// admitted has no vote of its, and would miss that of the next one to die.
const settled = 500 * time.Millisecond

// counter is one that runs.
type counter struct {
	begun time.Time
	death bool // a master has died since
}

// deaths kills one master while counters run, and starts it again, blank, when
// none runs any more: a lock that is held meanwhile would be lost with the next
// death. All methods belong to the test's goroutine.
type deaths struct {
	t        *testing.T
	masters  []*integration.Redis
	proxy    *integration.Proxy
	counters map[string]*counter
	voting   time.Time          // since when all have been seen to vote; zero if not all do
	dead     *integration.Redis // nil while all live
	next     int                // whose turn it is to die
	total    int
}

// hear takes a line that begins with "counter".
func (d *deaths) hear(line string) {
	d.t.Helper()
	if name, ok := strings.CutPrefix(line, "counter begins "); ok {
		d.counters[name] = &counter{begun: time.Now()}
		return
	}
	name, ok := strings.CutPrefix(line, "counter ends ")
	c := d.counters[name]
	if !ok || c == nil {
		d.t.Errorf("%q: no counter of that name has begun", line)
		return
	}
	delete(d.counters, name)
	d.total++
	if !c.death { // the one that died before was not back in time: the machine is slow
		n, err := voting(d.proxy)
		d.t.Logf("the counter of %s ran for %v, and no master died; %d of %d vote, %v",
			name, time.Since(c.begun), n, len(d.masters), err)
	}
	if len(d.counters) == 0 && d.dead != nil {
		if err := d.dead.Restart(); err != nil {
			d.t.Error(err)
		}
		d.dead = nil
	}
}

// look kills the next master when it is time, and when all of them vote: the
// one that died before has to be back.
func (d *deaths) look() {
	d.t.Helper()
	if d.dead != nil || !d.halfway() {
		return
	}
	if n, err := voting(d.proxy); err != nil || n < len(d.masters) {
		d.voting = time.Time{}
		return
	}
	if d.voting.IsZero() {
		d.voting = time.Now()
	}
	if time.Since(d.voting) < settled {
		return
	}
	d.voting = time.Time{}
	d.dead = d.masters[d.next%len(d.masters)]
	d.next++
	if err := d.dead.Kill(); err != nil {
		d.t.Error(err)
	}
	for _, c := range d.counters {
		c.death = true
	}
}

func (d *deaths) halfway() bool {
	for _, c := range d.counters {
		if time.Since(c.begun) >= halfway {
			return true
		}
	}
	return false
}

// bury asks, at the end, that no counter was left running and that there was one.
func (d *deaths) bury() {
	d.t.Helper()
	for name := range d.counters {
		d.t.Errorf("the counter of %s has not ended", name)
	}
	if d.total == 0 || d.next == 0 {
		d.t.Errorf("%d libraries have guarded a counter, and %d masters died", d.total, d.next)
	}
	if d.dead != nil {
		if err := d.dead.Restart(); err != nil {
			d.t.Error(err)
		}
	}
}
