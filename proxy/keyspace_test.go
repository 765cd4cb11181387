package proxy

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// holding are masters that answer each question about their keys alike, after a while, and count
// how often they were asked.
type holding struct {
	mu    sync.Mutex
	info  string
	after time.Duration
	asked []string
}

func (h *holding) answer(a asked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, strings.Join(a.request.Args, " "))
	reply := quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}}
	if a.request.Args[0] == "INFO" {
		reply.Reply = quorum.Reply{Kind: quorum.BulkReply, Str: h.info}
	}
	one := quorum.SurveyAnswer{Given: true, Reply: reply}
	give := func() {
		a.asker.Answer(quorum.Result{Decision: quorum.Won, Needed: 2, Answers: []quorum.SurveyAnswer{one, one, one}}).Flush()
	}
	if h.after == 0 {
		give()
		return
	}
	time.AfterFunc(h.after, give)
}

func (h *holding) set(info string, after time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.info, h.after = info, after
}

func (h *holding) times() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.asked)
}

func (r *rig) keyspace() string {
	_, lines, _ := strings.Cut(r.server.info([]string{"keyspace"}), "\r\n")
	return lines
}

func TestInfoTellsTheKeysOfAQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &holding{info: "# Keyspace\r\ndb0:keys=4,expires=2,avg_ttl=9\r\ndb3:keys=8,expires=1,avg_ttl=9\r\n"}
		r := newRig(t, Config{})
		r.engine.keyspace = h.answer
		if got := r.keyspace(); got != "db0:keys=3,expires=2,avg_ttl=0\r\n" {
			t.Errorf("of a database that nobody has selected something is told, or not of the other one: %q", got)
		}
		c := r.dial()
		c.send("SELECT 3\r\n")
		c.expect("+OK\r\n")
		time.Sleep(time.Second)
		if got := r.keyspace(); got != "db0:keys=3,expires=2,avg_ttl=0\r\ndb3:keys=7,expires=1,avg_ttl=0\r\n" {
			t.Errorf("told is %q", got)
		}
		r.end()
	})
}

func TestMastersAreAskedForTheirKeysOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &holding{info: "db0:keys=4,expires=2\r\n", after: 10 * ms}
		r := newRig(t, Config{})
		r.engine.keyspace = h.answer
		var clients sync.WaitGroup
		for range 20 {
			clients.Go(func() {
				if got := r.keyspace(); got != "db0:keys=3,expires=2,avg_ttl=0\r\n" {
					t.Errorf("told is %q", got)
				}
			})
		}
		clients.Wait()
		for range 9 {
			time.Sleep(100 * ms)
			r.keyspace()
		}
		if n := h.times(); n != 2 { // once each for the number, and for the proxy's own
			t.Errorf("in a second %d questions are asked", n)
		}
		h.set("db0:keys=6,expires=2\r\n", 0)
		time.Sleep(100 * ms)
		if got := r.keyspace(); h.times() != 4 || got != "db0:keys=5,expires=2,avg_ttl=0\r\n" {
			t.Errorf("a second later %d questions are asked, and told is %q", h.times(), got)
		}
		r.info("server")
		time.Sleep(time.Second)
		r.info("stats")
		if n := h.times(); n != 4 {
			t.Errorf("of other sections %d questions are asked", n-4)
		}
		r.end()
	})
}

func (r *rig) info(section string) { r.server.info([]string{section}) }

func TestInfoDoesNotWaitLongForTheMasters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &holding{info: "db0:keys=4,expires=2\r\n"}
		r := newRig(t, Config{})
		r.engine.keyspace = h.answer
		r.keyspace()
		h.set("db0:keys=9,expires=2\r\n", 3*time.Second)
		time.Sleep(time.Second)
		begun := time.Now()
		if got := r.keyspace(); got != "db0:keys=3,expires=2,avg_ttl=0\r\n" {
			t.Errorf("while masters do not answer %q is told", got)
		}
		if took := time.Since(begun); took != keyspaceWait {
			t.Errorf("it took %v", took)
		}
		time.Sleep(2 * time.Second)
		if r.keyspace(); h.times() != 4 {
			t.Errorf("they are asked again before they have answered: %d questions", h.times())
		}
		time.Sleep(time.Second)
		h.set("db0:keys=9,expires=2\r\n", 0)
		if got := r.keyspace(); got != "db0:keys=8,expires=2,avg_ttl=0\r\n" {
			t.Errorf("when they have answered %q is told", got)
		}
		r.engine.keyspace = nil // no master is there
		time.Sleep(time.Second)
		if got := r.keyspace(); got != "" {
			t.Errorf("without a quorum %q is told", got)
		}
		r.end()
	})
}
