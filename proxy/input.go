package proxy

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy/resp"
)

// chunk is what the reader needs while there is input. A connection that is
// idle holds none.
type chunk struct {
	buf     []byte
	parser  resp.Parser // the session does not keep the slice that it makes
	encoded []byte      // replies on their way to the output
	store   []byte      // where the next small commands are kept, see keep
}

const (
	chunkSize      = 16 << 10 // one read
	smallChunkSize = 4 << 10  // where it is held while idle
	storeSize      = 4 << 10

	// turnCommands are carried out before others have their turn: more than most clients
	// send at once, and few enough that nobody notices.
	turnCommands = 64
)

var chunks = sync.Pool{New: func() any { return newChunk(chunkSize) }}

func newChunk(size int) *chunk { return &chunk{buf: make([]byte, size)} }

// release gives a chunk back to the pool, unless it is a connection's own.
func (k *chunk) release() {
	switch {
	case k == nil:
	case len(k.buf) == chunkSize:
		chunks.Put(k)
	default:
		k.store = nil
	}
}

// keep copies a command to where its arguments can point to for good: it is never
// written again. Small commands share a piece of memory, which lives as long as any
// of them, so whoever keeps an argument for long makes a copy of his own.
func (k *chunk) keep(command []byte) []byte {
	n := len(command)
	if n > storeSize/16 {
		return bytes.Clone(command)
	}
	if n > len(k.store) {
		k.store = make([]byte, storeSize)
	}
	kept := k.store[:n:n]
	k.store = k.store[n:]
	copy(kept, command)
	return kept
}

// input is the reader's part of a connection; nobody else touches it.
type input struct {
	scan    resp.Scanner
	partial []byte // what there is of a command that is not complete
	behind  behind // what there is behind a command that may be blocked
	raw     []byte // the command that is carried out
	size    int    // and how many bytes that is

	mayBlock bool // a command may be blocked

	strangerTold bool // the audit log knows that the client has asked without its password

	own    *chunk // where no poller reads
	leads  bool   // the reader leads its poller
	noMore bool   // nothing is known to follow the command that is carried out
}

// receive waits for input. The chunk must be released.
func (c *conn) receive() (*chunk, []byte, error) {
	if c.srv.cfg.Timeout > 0 {
		c.setReadTimeout()
	}
	if c.own == nil {
		c.own = newChunk(smallChunkSize)
	}
	n, err := c.nc.Read(c.own.buf)
	return c.own, c.own.buf[:n], err
}

// setReadTimeout begins the time that the client may be silent.
func (c *conn) setReadTimeout() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == serving && !c.roused {
		c.nc.SetReadDeadline(time.Now().Add(c.srv.cfg.Timeout))
	}
}

// received carries out what was read.
func (c *conn) received(k *chunk, p []byte) ending {
	c.touch()
	c.srv.stats.input.Add(uint64(len(p)))
	c.netIn.Add(int64(len(p)))
	last := c.feedAll(k, p)
	c.session.Rest()
	c.noteKept()
	c.flush()
	return last
}

// gather adds to what there is of a command, which brings so many more bytes at most. It has
// room for twice as much where it is too small, but for no more than these. (By append, a
// quarter more: then a long argument leaves the collector several times as much as it is.)
func (c *conn) gather(p []byte, left int) {
	if need := len(c.partial) + len(p); need > cap(c.partial) {
		room := need + min(max(2*cap(c.partial)-need, 0), left)
		c.partial = append(make([]byte, 0, room), c.partial...)
	}
	c.partial = append(c.partial, p...)
}

// feed carries out the commands that are complete with p, as far as none may be blocked, and keeps what there is of
// another. rest is what it has not looked at.
func (c *conn) feed(k *chunk, p []byte) (rest []byte, last ending) {
	turn := 0
	for len(p) > 0 && !c.stalls() {
		c.scan.Guest = !c.session.Authed()
		n, complete, err := c.scan.Next(p)
		if err != nil {
			return nil, c.refuse(k, err)
		}
		if !complete {
			c.gather(p[:n], c.scan.Left())
			return nil, 0
		}
		raw := p[:n]
		if len(c.partial) > 0 {
			c.gather(raw, 0)
			raw, c.partial = c.partial, nil
		} else {
			raw = k.keep(raw)
		}
		p = p[n:]
		if len(raw) > chunkSize {
			c.stepAside() // there may be much to do
		}
		c.raw, c.size, c.noMore = raw, len(raw), len(p) == 0 && c.behind.size() == 0
		args, err := k.parser.Parse(raw, c.scan.Limits.MaxArgs)
		if err != nil {
			return nil, c.refuse(k, err)
		}
		if len(args) == 0 {
			continue
		}
		c.commands.Add(1)
		last = c.command(k, args)
		clear(args)
		c.raw = nil
		if last != 0 {
			return nil, last
		}
		if turn++; turn%turnCommands == 0 {
			c.stepAside()
			runtime.Gosched()
		}
	}
	return p, 0
}

// refuse answers input that is no command, and ends the connection.
func (c *conn) refuse(k *chunk, err error) ending {
	c.partial = nil
	c.pending.Store(0)
	if err == resp.QueryLimit {
		c.srv.stats.queryLimit.Add(1)
		c.srv.log.Warn("a client is cut off: its command is longer than the limit", "id", c.id, "addr", c.addr, "limit", c.scan.Limits.MaxQuery)
		return lingering
	}
	c.srv.log.Debug("protocol error", "id", c.id, "addr", c.addr, "error", err)
	c.srv.stats.errorReply(err.Error())
	if !c.session.Muted() {
		reply := commands.Error(err.Error())
		k.encoded = resp.Append(k.encoded[:0], &reply, c.session.Proto())
		c.append(k.encoded)
	}
	return lingering
}

// isHTTP: the first word of a line that only HTTP clients send.
func isHTTP(word string) bool {
	return strings.EqualFold(word, "post") || strings.EqualFold(word, "host:")
}

// attacked cuts off a browser that somebody made talk to us, before it says
// anything in earnest.
func (c *conn) attacked() {
	now := int64(c.srv.clock())
	logged := c.srv.attackLogged.Load()
	if (logged == 0 || now-logged > int64(attackLogInterval)) && c.srv.attackLogged.CompareAndSwap(logged, max(now, 1)) {
		c.srv.log.Warn("Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to Redis. This is likely due to an attacker attempting to use Cross Protocol Scripting to compromise your Redis instance. Connection from " + c.addr + " aborted.")
	}
	c.cut()
}
