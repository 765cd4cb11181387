package proxy

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

func TestFiguresAreThoseOfInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{ProgramVersion: "1.2.3", MaxClients: 7, LogLost: func() uint64 { return 9 }}
		r := newRig(t, cfg)
		r.engine.memory.Store(33)
		c := r.dial()
		c.send("GET k\r\nNOSUCH\r\nGET\r\n")
		time.Sleep(30 * time.Millisecond)
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Won})
		c.expect("$-1\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n-ERR wrong number of arguments for 'get' command\r\n")
		c.send("SUBSCRIBE a b\r\n")
		c.expect("*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n")
		synctest.Wait()
		f := r.server.Figures()
		if f.Version != "1.2.3" || !f.Ready || f.Draining || f.Clients != 1 || f.MaxClients != 7 || f.Subscribed != 1 || f.Channels != 2 ||
			f.Connections != 1 || f.ErrorReplies != 2 || f.Errors["ERR"] != 2 || f.LogLinesLost != 9 || f.MastersMemory != 33 ||
			f.ClientMemory == 0 || f.MaxClientMemory != DefaultMaxClientMemory || f.BytesIn == 0 || f.BytesOut == 0 {
			t.Errorf("figures %+v", f)
		}
		var get CommandFigures
		for _, command := range f.Commands {
			if command.Calls+command.Rejected+command.Failed == 0 {
				t.Errorf("%s was not given", command.Name)
			}
			if command.Name == "get" {
				get = command
			}
		}
		if want := (CommandFigures{"get", 1, 1, 0, 30 * time.Millisecond}); get != want {
			t.Errorf("of GET %+v, want %+v", get, want)
		}
		r.end()
		if f := r.server.Figures(); f.Ready || !f.Draining || f.Clients != 0 {
			t.Errorf("after the end %+v", f)
		}
	})
}

func TestLatencyIsCountedByTheKindOfRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("SET a t NX PX 1000\r\n")
		time.Sleep(5 * time.Millisecond)
		r.engine.answer(t, "a", quorum.Result{Decision: quorum.Contended})
		c.expect("$-1\r\n")
		c.send("SET b t NX PX 1000\r\n")
		time.Sleep(5*time.Millisecond + 1)
		r.engine.answer(t, "b", quorum.Result{Decision: quorum.Unavailable})
		c.expect("-NOQUORUM 0 of 0 masters can vote, 0 are needed\r\n")
		c.send("DEL x y\r\n")
		time.Sleep(time.Second)
		r.engine.answer(t, "x", quorum.Result{Decision: quorum.Won})
		time.Sleep(time.Second)
		r.engine.answer(t, "y", quorum.Result{Decision: quorum.Won})
		c.expect(":2\r\n")
		f := r.server.Figures()
		acquires := f.Latencies[quorum.Acquire]
		if acquires.Counts[5] != 1 || acquires.Counts[6] != 1 || acquires.Sum != 10*time.Millisecond+1 {
			t.Errorf("acquires %+v: want one of up to %v, and one of up to %v", acquires, LatencyBounds[5], LatencyBounds[6])
		}
		if removes := f.Latencies[quorum.Remove]; removes.Counts[len(LatencyBounds)] != 2 || removes.Sum != 4*time.Second {
			t.Errorf("removes %+v: want two that are over all bounds", removes)
		}
		for kind := quorum.Acquire; kind <= quorum.Survey; kind++ {
			n := uint64(0)
			for _, count := range f.Latencies[kind].Counts {
				n += count
			}
			if want := map[quorum.Kind]uint64{quorum.Acquire: 2, quorum.Remove: 2}[kind]; n != want {
				t.Errorf("of kind %v there are %d, want %d", kind, n, want)
			}
		}
		r.end()
	})
}

// Who guesses at one door is known at the other.
func TestPasswordsThatAreGuessedAtAnotherDoorCountForTheirAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		from := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }
		for _, row := range []struct {
			from  net.Addr
			delay time.Duration
		}{
			{from("10.0.0.1"), firstDenial},
			{from("10.0.0.2"), firstDenial},
			{from("10.0.0.1"), 2 * firstDenial},
			{from("2001:db8::1"), firstDenial},
			{from("2001:db8::2"), 2 * firstDenial},
			{&net.UnixAddr{Name: "@", Net: "unix"}, firstDenial},
			{&net.UnixAddr{Name: "@", Net: "unix"}, 2 * firstDenial},
		} {
			if got := r.server.Denied(row.from, "admin"); got != row.delay {
				t.Errorf("%v waits %v, want %v", row.from, got, row.delay)
			}
		}
		if got := r.server.Figures().WrongPasswords; got != 7 {
			t.Errorf("%d wrong passwords, want 7", got)
		}
		r.end()
	})
}
