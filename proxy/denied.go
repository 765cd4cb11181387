package proxy

import (
	"net"
	"sync"
	"time"
)

// Who gives a wrong password is answered later and later, so that guessing takes long and
// costs nobody else anything. It is his connection alone that waits: not the others, nor
// other clients of his address that know the password.

const (
	// The delay doubles from firstDenial, which a person does not feel, to longestDenial.
	firstDenial   = 5 * time.Millisecond
	longestDenial = time.Second

	// denialMemory is for how long an address is remembered without another failure, and
	// how often its failures are logged.
	denialMemory = time.Minute

	// maxDenied is how many addresses are told apart. More share one delay, and one line in
	// the log.
	maxDenied = 1024
)

// denials are the addresses from which AUTH has failed lately.
type denials struct {
	mu   sync.Mutex // guards what follows
	from map[string]*denial
}

// denial is what is remembered of one address. Times are by the server's clock.
type denial struct {
	delay  time.Duration // of the next failure
	last   time.Duration // failure
	logged time.Duration
	untold int // failures since then
}

// sumOfDenials is what the log says of the failures of one address.
type sumOfDenials struct {
	address  string
	failures int
}

const otherAddresses = "others"

// count notes a failure. It says how long its answer has to wait, and how many failures
// are to be logged now, if any.
func (d *denials) count(address string, now time.Duration) (delay time.Duration, tell sumOfDenials) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := d.from[address]
	if of == nil && len(d.from) >= maxDenied {
		address = otherAddresses
		of = d.from[address]
	}
	if of == nil {
		if d.from == nil {
			d.from = make(map[string]*denial)
		}
		of = &denial{delay: firstDenial, logged: now - denialMemory}
		d.from[address] = of
	}
	delay = of.delay
	of.delay = min(2*delay, longestDenial)
	of.last = now
	of.untold++
	if now-of.logged >= denialMemory {
		tell = sumOfDenials{address, of.untold}
		of.logged, of.untold = now, 0
	}
	return delay, tell
}

// forget ends what is remembered of addresses from which there was no failure for long,
// and gives what is still to be logged of them.
func (d *denials) forget(now time.Duration) (tell []sumOfDenials) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for address, of := range d.from {
		if now-of.last < denialMemory {
			continue
		}
		if of.untold > 0 {
			tell = append(tell, sumOfDenials{address, of.untold})
		}
		delete(d.from, address)
	}
	return tell
}

// denied is called after a wrong password, before the answer. The reader waits, and reads
// no more commands meanwhile.
func (c *conn) denied() {
	delay, tell := c.srv.denials.count(sourceOf(c.nc.RemoteAddr(), c.addr), c.srv.clock())
	if tell.failures > 0 {
		c.srv.logDenials(tell, "latest", c.addr, "id", c.id)
	}
	c.rest(delay)
}

// rest has the reader wait, as long as the connection is not to end, and what is owed goes out before. It is false if
// the connection was cut off.
func (c *conn) rest(d time.Duration) bool {
	over := false
	timer := time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		over = true
		c.wake()
	})
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.phase == serving && !over {
		c.waitFlushed()
	}
	return c.phase != cutOff
}

// longestRest is after how long it is looked again when a command may come: its user's rate may be another one.
const longestRest = time.Second

// awaitPace has a command wait for its turn, of a user who sends more than he may. It is false if the connection was cut
// off. Where it is to end, the command waits no longer.
func (c *conn) awaitPace(command string, turn time.Duration) bool {
	c.srv.stats.delayed.Add(1)
	defer c.session.Leave()
	for ; turn > 0; turn = c.session.Wait(command, c.srv.clock()) {
		if !c.rest(min(turn, longestRest)) {
			return false
		}
		c.mu.Lock()
		ends := c.phase != serving
		c.mu.Unlock()
		if ends {
			break
		}
	}
	return true
}

func (s *Server) logDenials(of sumOfDenials, more ...any) {
	s.log.Warn("clients do not know the password", append([]any{"from", of.address, "failures", of.failures}, more...)...)
}

// forgetDenials is the sampler's.
func (s *Server) forgetDenials() {
	for _, of := range s.denials.forget(s.clock()) {
		s.logDenials(of)
	}
}

// Denied counts a wrong password that was given at another door than AUTH, as one more of that
// address. It says how long the answer has to wait.
func (s *Server) Denied(from net.Addr, door string) (delay time.Duration) {
	s.stats.authFailures.Add(1)
	s.auditDoor(from, door)
	delay, tell := s.denials.count(sourceOf(from, door), s.clock())
	if tell.failures > 0 {
		s.logDenials(tell, "latest", from.String(), "door", door)
	}
	return delay
}

// sourceOf is the address that failures count for. Of IPv6 that is a network, as whoever has
// one address there has all of it; of anything but TCP it is the door, as of a Unix socket.
func sourceOf(from net.Addr, door string) string {
	tcp, ok := from.(*net.TCPAddr)
	if !ok {
		return door
	}
	ip := tcp.AddrPort().Addr().Unmap()
	if ip.Is6() {
		network, _ := ip.WithZone("").Prefix(64)
		return network.String()
	}
	return ip.String()
}
