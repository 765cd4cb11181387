package proxy

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// told is the fields of a connection in CLIENT LIST.
func (r *rig) told(id int64) map[string]string {
	r.t.Helper()
	c := r.server.conn(id)
	if c == nil {
		r.t.Fatalf("there is no connection %d", id)
	}
	fields := make(map[string]string)
	for field := range strings.FieldsSeq(c.line()) {
		name, value, _ := strings.Cut(field, "=")
		fields[name] = value
	}
	return fields
}

// holds compares some of them.
func (r *rig) holds(when string, id int64, want ...string) {
	r.t.Helper()
	got := r.told(id)
	for _, field := range want {
		name, value, _ := strings.Cut(field, "=")
		if got[name] != value {
			r.t.Errorf("%s: %s=%s, want %s", when, name, got[name], value)
		}
	}
}

func TestClientListTellsOfATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("WATCH a b\r\n")
		synctest.Wait()
		r.holds("after WATCH", 1, "watch=2", "multi=-1", "flags=N", "multi-mem=0")
		r.engine.answer(t, "a", won)
		r.engine.answer(t, "b", won)
		c.expect("+OK\r\n")
		c.send("MULTI\r\nGET k\r\nGET l\r\n")
		c.expect("+OK\r\n+QUEUED\r\n+QUEUED\r\n")
		synctest.Wait()
		r.holds("in MULTI", 1, "watch=2", "multi=2", "flags=x", "cmd=multi", "tot-cmds=4", "tot-net-in=32", "tot-net-out=28", "events=r")
		if n := r.told(1)["multi-mem"]; n == "0" {
			t.Error("what is queued takes nothing")
		}
		c.send("EXEC\r\n")
		synctest.Wait()
		r.holds("at EXEC", 1, "watch=0", "multi=-1", "flags=N", "cmd=exec", "multi-mem=0")
		r.end()
	})
}

func TestClientListTellsWhatIsThereAndWhatIsOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("*2\r\n$4\r\nECHO\r\n$100\r\nabc")
		synctest.Wait()
		r.holds("of half a command", 1, "qbuf=23", "tot-cmds=0", "obl=0", "omem=0", "cmd=NULL")
		c.send(strings.Repeat("x", 97) + "\r\n")
		c.expect("$100\r\nabc" + strings.Repeat("x", 97) + "\r\n")
		synctest.Wait()
		r.holds("of a whole one", 1, "qbuf=0", "qbuf-free=0", "tot-cmds=1", "obl=0", "omem=0", "cmd=echo")
		go io.WriteString(c.nc, "big 10000\r\nbig 10000\r\nbig 10000\r\n")
		synctest.Wait()
		r.holds("of replies that are not read", 1, "events=rw", "obl=30030", "oll=0", "omem=0", "tot-cmds=4")
		c.send("ECHO x\r\n")
		synctest.Wait()
		r.holds("of one behind them", 1, "events=rw", "obl=30030", "oll=1", "omem=7")
		c.expect(strings.Repeat("$10000\r\n"+strings.Repeat("x", 10000)+"\r\n", 3) + "$1\r\nx\r\n")
		synctest.Wait()
		r.holds("when they are", 1, "events=r", "obl=0", "oll=0", "omem=0", "rbs=0", fmt.Sprint("tot-net-out=", 108+3*10010+7))
		if peak := r.told(1)["rbp"]; len(peak) < 5 {
			t.Errorf("the largest buffer had %s bytes", peak)
		}
		time.Sleep(7 * time.Second)
		r.holds("later", 1, "age=7", "idle=7")
		r.end()
	})
}

// Where an operator may ask for it, a client is not cut off for what all take together.
func TestNoEvictIsNotCutOff(t *testing.T) {
	for name, users := range map[string]string{"of operators": everybodyOperates, "of others": "", "of operators once": everybodyOperates} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				allowed := name == "of operators"
				cfg := Config{MaxClientMemory: 1 << 20}
				cfg.Commands.Users = users
				r := newRig(t, cfg)
				kept, other := r.dial(), r.dial()
				kept.send("CLIENT NO-EVICT on\r\n")
				kept.expect("+OK\r\n")
				if users != "" && !allowed {
					other.send("ACL SETUSER default -@operate\r\n")
					other.expect("+OK\r\n")
				}
				go io.WriteString(kept.nc, "big 700000\r\n")
				synctest.Wait()
				go io.WriteString(other.nc, "big 600000\r\n")
				synctest.Wait()
				cut := regexp.MustCompile(`a client is cut off: all clients take too much memory, and it takes most: id=(\d)`).FindAllStringSubmatch(r.log.String(), -1)
				if want := map[bool]string{true: "2", false: "1"}[allowed]; len(cut) != 1 || cut[0][1] != want {
					t.Errorf("cut off are %q, want %s alone", cut, want)
				}
				if flags := r.told(3 - map[bool]int64{true: 2, false: 1}[allowed])["flags"]; (flags == "e") != allowed {
					t.Errorf("the flags of who is left are %s", flags)
				}
				r.end()
			})
		})
	}
}
