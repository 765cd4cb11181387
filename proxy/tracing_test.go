package proxy

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// fakeTracer keeps what it is told.
type fakeTracer struct {
	picky bool // it samples nothing
	once  bool // it samples no more than this one

	mu   sync.Mutex
	told []Traced
}

func (f *fakeTracer) Samples() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	samples := !f.picky
	f.picky = f.picky || f.once
	return samples
}

func (f *fakeTracer) Answered(t *Traced) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = append(f.told, *t)
}

// take is what was told since it was last asked.
func (f *fakeTracer) take() (told []Traced) {
	f.mu.Lock()
	defer f.mu.Unlock()
	told, f.told = f.told, nil
	return told
}

// winning answers each request with won, after a millisecond.
func winning(e *fakeEngine, a asked) {
	go func() {
		time.Sleep(time.Millisecond)
		r := quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}}
		if a.request.Kind == quorum.Run {
			r.Script = &quorum.ScriptReply{Reply: r.Reply}
		}
		a.asker.Answer(r).Flush()
	}()
}

func TestCommandsAboutLocksAreTraced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer := &fakeTracer{}
		r := newRig(t, Config{Tracer: tracer})
		r.engine.auto = winning
		c := r.dial()
		c.send("CLIENT SETNAME worker\r\n")
		c.expect("+OK\r\n")
		for _, test := range []struct {
			command, reply string
			want           []quorum.Kind
		}{
			{"SET k secret NX PX 30000", "+OK\r\n", []quorum.Kind{quorum.Acquire}},
			{"SET k secret", "", []quorum.Kind{quorum.Write}},
			{"PEXPIRE k 1000", ":1\r\n", []quorum.Kind{quorum.Write}},
			{"DEL k", ":1\r\n", []quorum.Kind{quorum.Remove}},
			{"DEL k l", ":2\r\n", []quorum.Kind{quorum.Remove, quorum.Remove}},
			{"INCR k", ":1\r\n", []quorum.Kind{quorum.Run}},
			{"PING", "+PONG\r\n", nil},
			{"TTL k", "", nil},
		} {
			c.send(test.command + "\r\n")
			if test.reply != "" {
				c.expect(test.reply)
			} else {
				c.expectSomething()
			}
			synctest.Wait()
			told := tracer.take()
			if len(told) != len(test.want) {
				t.Fatalf("%s: %d are told of: %+v", test.command, len(told), told)
			}
			for i, got := range told {
				name := strings.ToLower(strings.Fields(test.command)[0])
				if got.Command != name || got.Kind != test.want[i] || got.Decision != quorum.Won || got.ClientName != "worker" || got.ClientID == 0 || got.Addr == "" || got.Trace == nil {
					t.Errorf("%s: %+v", test.command, got)
				}
				if !strings.Contains(test.command, " "+got.Key) {
					t.Errorf("%s: the key is %q", test.command, got.Key)
				}
				if took := got.Answered.Sub(got.Asked); took != time.Millisecond {
					t.Errorf("%s took %v", test.command, took)
				}
			}
		}
		// A request that is not of the tracer's is not touched.
		for _, q := range r.engine.all {
			if traced := q.Trace != nil; traced != tracedKind(q.Kind) {
				t.Errorf("%v: traced is %v", q.Kind, traced)
			}
		}
		r.end()
	})
}

// expectSomething reads one reply, whatever it is.
func (c *client) expectSomething() {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(patience))
	if n, err := c.nc.Read(make([]byte, 1000)); n == 0 {
		c.t.Fatalf("no reply: %v", err)
	}
}

func TestWhatIsNotSampledIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer := &fakeTracer{picky: true}
		r := newRig(t, Config{Tracer: tracer})
		r.engine.auto = winning
		c := r.dial()
		c.send("SET k secret NX PX 30000\r\n")
		c.expect("+OK\r\n")
		if told := tracer.take(); len(told) > 0 || r.engine.all[0].Trace != nil {
			t.Errorf("%+v", told)
		}
		r.end()
	})
}

func TestRequestThatIsNotTracedAllocatesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tracer := range map[string]Tracer{"there is no tracer": nil, "it samples nothing": &fakeTracer{picky: true}} {
			r := newRig(t, Config{Tracer: tracer})
			c := &conn{srv: r.server}
			s := &slot{conn: c, command: commands.Table()[0]}
			request := quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Second}
			s.asks = []ask{{slot: s, request: &request}}
			result := quorum.Result{Decision: quorum.Won}
			if n := testing.AllocsPerRun(100, func() { s.sample(0); s.asks[0].trace(&result) }); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
			r.end()
		}
	})
}
