package proxy

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"redlock-proxy/commands"
)

// heap is what the process has of the system's memory, in bytes.
type heap struct {
	used     uint64 // by what is there
	free     uint64 // kept for what will be
	resident uint64 // both, and what the runtime itself takes
}

func readHeap() heap {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(samples)
	n := func(i int) uint64 { return samples[i].Value.Uint64() }
	return heap{used: n(0), free: n(1) + n(2), resident: n(4) - n(3)}
}

// memoryStats is the reply to MEMORY STATS: Redis's fields as far as there is something to tell, and
// what masters take. There is no data here, so all is overhead.
func (s *Server) memoryStats() commands.Reply {
	h := readHeap()
	shared := 0
	if s.memory.remembered != nil {
		shared = s.memory.remembered()
	}
	var pairs []commands.Reply
	bytes := func(name string, n uint64) {
		pairs = append(pairs, commands.Bulk(name), commands.Integer(int64(n)))
	}
	ratio := func(name string, n, of uint64) {
		text := strconv.FormatFloat(float64(n)/float64(max(of, 1)), 'f', -1, 64)
		pairs = append(pairs, commands.Bulk(name), commands.Reply{Kind: commands.DoubleReply, Str: text})
	}
	bytes("total.allocated", h.used)
	bytes("replication.backlog", 0)
	bytes("clients.slaves", 0)
	bytes("clients.normal", s.clientBytes())
	bytes("cluster.links", 0)
	bytes("aof.buffer", 0)
	bytes("lua.caches", uint64(shared))
	bytes("functions.caches", 0)
	bytes("masters.buffers", uint64(s.memory.masters()))
	bytes("overhead.total", h.used)
	bytes("dataset.bytes", 0)
	bytes("allocator.allocated", h.used)
	bytes("allocator.active", h.used+h.free)
	bytes("allocator.resident", h.resident)
	ratio("allocator-fragmentation.ratio", h.used+h.free, h.used)
	bytes("allocator-fragmentation.bytes", h.free)
	ratio("allocator-rss.ratio", h.resident, h.used+h.free)
	bytes("allocator-rss.bytes", h.resident-min(h.resident, h.used+h.free))
	ratio("fragmentation", h.resident, h.used)
	bytes("fragmentation.bytes", h.resident-min(h.resident, h.used))
	return commands.Map(pairs...)
}

// clientBytes is what all connections take.
func (s *Server) clientBytes() (n uint64) {
	s.mu.Lock()
	conns := s.connections()
	s.mu.Unlock()
	for _, c := range conns {
		c.mu.Lock()
		n += uint64(c.takes().all())
		c.mu.Unlock()
	}
	return n
}

// largest is the connection that takes most, and how much; nil if there is none.
func (s *Server) largest() (most *conn, bytes int64) {
	s.mu.Lock()
	conns := s.connections()
	s.mu.Unlock()
	for _, c := range conns {
		c.mu.Lock()
		n := c.takes().all()
		c.mu.Unlock()
		if most == nil || n > bytes {
			most, bytes = c, n
		}
	}
	return most, bytes
}

// memoryDoctor is what MEMORY DOCTOR says of a process whose memory is so.
func (s *Server) memoryDoctor(h heap) string {
	var b strings.Builder
	m := &s.memory
	used, masters := m.used.Load(), int64(m.masters())
	if used > m.most/4*3 {
		fmt.Fprintf(&b, "Clients take %s of the %s that max-client-memory lets them take: those that take most are cut off next.\n", mebibytes(used), mebibytes(m.most))
	}
	if n := s.stats.evicted.Load(); n > 0 {
		fmt.Fprintf(&b, "%d clients were cut off since all of them took more than max-client-memory, which is %s. The log names them.\n", n, mebibytes(m.most))
	}
	if n := s.stats.outputLimit.Load(); n > 0 {
		fmt.Fprintf(&b, "%d clients were cut off since they did not read. The log names them.\n", n)
	}
	if masters >= m.most/2 {
		fmt.Fprintf(&b, "What masters have answered, are asked and are owed takes %s: look at INFO quorum for one that is slow or away.\n", mebibytes(masters))
	}
	if h.free > h.used && h.free > 64<<20 {
		fmt.Fprintf(&b, "%s of memory are kept for later and not used: MEMORY PURGE gives them back.\n", mebibytes(int64(h.free)))
	}
	if b.Len() == 0 {
		b.WriteString("Nothing is wrong with this proxy's memory.\n")
	}
	fmt.Fprintf(&b, "The process has %s, of which %s are used. Clients take %s of %s, masters %s.\n",
		mebibytes(int64(h.resident)), mebibytes(int64(h.used)), mebibytes(used), mebibytes(m.most), mebibytes(masters))
	if c, n := s.largest(); c != nil {
		fmt.Fprintf(&b, "The client that takes most is id %d at %s, with %s.\n", c.id, c.addr, mebibytes(n))
	}
	return b.String()
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// purgeLasts is for how long nothing is to be gained by giving memory back again: it takes both
// time and the processor.
const purgeLasts = time.Second

// purge is when memory was given back last.
type purge struct {
	mu    sync.Mutex // guards what follows, and is held meanwhile
	until time.Duration
}

// purge gives memory back to the system, but not as often as it is asked for. Who asks while
// somebody else does waits for that.
func (s *Server) purge() {
	p := &s.purged
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.clock() < p.until {
		return
	}
	debug.FreeOSMemory()
	p.until = s.clock() + purgeLasts
}
