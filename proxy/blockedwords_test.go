package proxy

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWordsOfBlockedCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newBlockingRig(t, Config{})
		c := r.dial()
		for word, want := range map[string]string{
			"x": "timeout is not a float or out of range", "nan": "timeout is not a float or out of range", "-1": "timeout is negative",
			"inf": "timeout is out of range", "1e300": "timeout is out of range", "-.0001": "timeout is negative",
		} {
			c.send("BLPOP q " + word + "\r\n")
			c.expect("-ERR " + want + "\r\n")
		}
		c.send("BLPOP q 1e15\r\n")
		time.Sleep(time.Hour)
		r.dial().send("RPUSH q a\r\n")
		c.expect(popped("q", "a"))
		c.send("MULTI\r\nBLPOP q 0\r\nEXEC\r\n")
		c.expect("+OK\r\n+QUEUED\r\n*1\r\n" + gone)
		r.end()
	})
}
