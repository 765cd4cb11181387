package proxy

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bulk reads one bulk string.
func (c *client) bulk() string {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(patience))
	var head []byte
	for one := make([]byte, 1); !strings.HasSuffix(string(head), "\r\n"); {
		if _, err := c.nc.Read(one); err != nil {
			c.t.Fatalf("got %q (%v), want a bulk string", head, err)
		}
		head = append(head, one[0])
	}
	n := 0
	for _, digit := range strings.TrimSpace(string(head[1:])) {
		n = 10*n + int(digit-'0')
	}
	body := make([]byte, n+2)
	for read := 0; read < len(body); {
		m, err := c.nc.Read(body[read:])
		if err != nil {
			c.t.Fatalf("got %q (%v)", body[:read], err)
		}
		read += m
	}
	return string(body[:n])
}

func TestClientListReadsLikeRediss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		a := r.dial()
		a.send("CLIENT SETNAME worker\r\n")
		a.expect("+OK\r\n")
		time.Sleep(90 * time.Second)
		b := r.dial()
		b.send("CLIENT LIST\r\n")
		lines := strings.Split(strings.TrimSuffix(b.bulk(), "\n"), "\n")
		if len(lines) != 2 {
			t.Fatalf("%q, want two lines", lines)
		}
		pattern := regexp.MustCompile(`^id=\d+ addr=\S+ laddr=\S+ fd=-?\d+ name=\S* age=\d+ idle=\d+ flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 watch=0 qbuf=\d+ qbuf-free=\d+ argv-mem=\d+ multi-mem=\d+ rbs=\d+ rbp=\d+ obl=\d+ oll=\d+ omem=\d+ tot-mem=\d+ events=r cmd=\S+ user=default redir=-1 resp=[23] lib-name=\S* lib-ver=\S* tot-net-in=\d+ tot-net-out=\d+ tot-cmds=\d+$`)
		for _, line := range lines {
			if !pattern.MatchString(line) {
				t.Errorf("not Redis's form: %s", line)
			}
		}
		for _, part := range []string{"name=worker", "age=90", "idle=90", "cmd=client|setname"} {
			if !strings.Contains(lines[0], " "+part+" ") {
				t.Errorf("no %s in %s", part, lines[0])
			}
		}
		b.send("CLIENT INFO\r\n")
		if info := b.bulk(); !strings.Contains(info, "cmd=client|info") || !strings.HasSuffix(info, "\n") {
			t.Errorf("CLIENT INFO: %q", info)
		}
		r.end()
	})
}

func TestClientKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		a, b, me := r.dial(), r.dial(), r.dial()
		a.send("write k\r\n")
		synctest.Wait()
		me.send("CLIENT KILL 10.0.0.1:1\r\n")
		me.expect("-ERR No such client\r\n")
		me.send("CLIENT KILL ID 1\r\n")
		me.expect(":1\r\n")
		a.expectEnd("")
		r.engine.answer(t, "k", won)
		me.send("CLIENT KILL TYPE normal\r\n") // all but me
		me.expect(":1\r\n")
		b.expectEnd("")
		me.send("CLIENT KILL TYPE normal SKIPME no\r\n")
		me.expectEnd(":1\r\n")
		r.end()
	})
}
