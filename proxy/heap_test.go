package proxy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
)

func TestMemoryStatsAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		r.remembered.Store(1234)
		r.engine.memory.Store(5678)
		r.dial()
		synctest.Wait()
		stats := r.server.memoryStats()
		got := make(map[string]commands.Reply)
		for i := 0; i < len(stats.Elems); i += 2 {
			got[stats.Elems[i].Str] = stats.Elems[i+1]
		}
		for name, want := range map[string]int64{"lua.caches": 1234, "masters.buffers": 5678, "clients.normal": connSize, "dataset.bytes": 0} {
			if got[name].Int != want {
				t.Errorf("%s is %d, want %d", name, got[name].Int, want)
			}
		}
		if used, active, resident := got["total.allocated"].Int, got["allocator.active"].Int, got["allocator.resident"].Int; used <= 0 || active < used || resident <= 0 {
			t.Errorf("allocated %d, active %d, resident %d", used, active, resident)
		}
		if r := got["fragmentation"]; r.Kind != commands.DoubleReply || r.Str == "" {
			t.Errorf("fragmentation is %+v", r)
		}
		r.end()
	})
}

func TestTheMemorysDoctorNamesWhatIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{MaxClientMemory: 1 << 20})
		c := r.dial()
		c.send("PING\r\n")
		c.expect("+PONG\r\n")
		if text := r.server.memoryDoctor(heap{used: 30 << 20, free: 30 << 20}); !strings.HasPrefix(text, "Nothing is wrong with this proxy's memory.\n") || !strings.Contains(text, "The client that takes most is id 1 at pipe, with 0.0 MiB.\n") {
			t.Errorf("where nothing is wrong it says %q", text)
		}
		if text := r.server.memoryDoctor(heap{used: 30 << 20, free: 70 << 20}); !strings.HasPrefix(text, "70.0 MiB of memory are kept for later and not used: MEMORY PURGE gives them back.\n") || strings.Contains(text, "Nothing is wrong") {
			t.Errorf("where much is kept for later it says %q", text)
		}
		r.remembered.Store(900 << 10)
		r.engine.memory.Store(600 << 10)
		r.server.stats.evicted.Add(3)
		r.server.stats.outputLimit.Add(2)
		time.Sleep(1100 * ms)
		c.send("MEMORY DOCTOR\r\n")
		text := c.bulk()
		for _, part := range []string{"Clients take 0.9 MiB of the 1.0 MiB that max-client-memory lets them take", "3 clients were cut off since all",
			"2 clients were cut off since they did not read", "What masters have answered, are asked and are owed takes 0.6 MiB"} {
			if !strings.Contains(text, part) {
				t.Errorf("no %q in %q", part, text)
			}
		}
		if strings.Contains(text, "Nothing is wrong") {
			t.Errorf("and all the same it says %q", text)
		}
		r.end()
	})
}

func TestMemoryIsGivenBackOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		purged := func() time.Duration {
			r.server.purged.mu.Lock()
			defer r.server.purged.mu.Unlock()
			return r.server.purged.until
		}
		c.send("MEMORY PURGE\r\n")
		c.expect("+OK\r\n")
		first := purged()
		if first != purgeLasts {
			t.Errorf("it was given back until %v", first)
		}
		time.Sleep(900 * ms)
		c.send("MEMORY PURGE\r\nMEMORY PURGE\r\n")
		c.expect("+OK\r\n+OK\r\n")
		if purged() != first {
			t.Error("and again in the same second")
		}
		time.Sleep(100 * ms)
		c.send("MEMORY PURGE\r\nMEMORY MALLOC-STATS\r\n")
		c.expect("+OK\r\n$45\r\nStats not supported for the current allocator\r\n")
		if purged() != 2*purgeLasts {
			t.Errorf("a second later it was given back until %v", purged())
		}
		r.end()
	})
}
