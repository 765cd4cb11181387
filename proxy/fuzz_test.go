package proxy

import (
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"redlock-proxy/proxy/resp"
)

// converse sends input in pieces that seed chooses and gives back everything
// that the server says until it ends the connection.
func converse(t *testing.T, input []byte, seed uint64, password bool) string {
	t.Helper()
	cfg := Config{Limits: Limits{Input: resp.Limits{MaxBulk: 5000, MaxArgs: 50, MaxInline: 3000, MaxQuery: 8000}}}
	if password {
		cfg.Commands.Password = func() string { return "secret" }
	}
	r := newRig(t, cfg)
	r.engine.auto = answerAtOnce
	if seed%2 == 1 {
		r.engine.auto = answerLater(time.Duration(seed%100) * time.Microsecond)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.serve(ln)
	c := r.dialAt(ln.Addr())
	go func() {
		random := rand.New(rand.NewPCG(seed, 1))
		for len(input) > 0 {
			n := len(input)
			if seed > 0 {
				n = 1 + random.IntN(min(len(input), 200))
			}
			if _, err := c.nc.Write(input[:n]); err != nil {
				return
			}
			input = input[n:]
		}
		c.nc.(*net.TCPConn).CloseWrite()
	}()
	c.nc.SetReadDeadline(time.Now().Add(patience))
	got, err := io.ReadAll(c.nc)
	if err != nil && strings.Contains(err.Error(), "timeout") {
		t.Fatalf("no end: %q", got)
	}
	c.nc.Close()
	r.end()
	if strings.Contains(r.log.String(), "[ERROR]") {
		t.Fatalf("a panic:\n%s", r.log)
	}
	return string(got)
}

// FuzzConversation: whatever a client sends, the server lives, ends the
// conversation, and says the same however the bytes were cut.
func FuzzConversation(f *testing.F) {
	for _, m := range misfits {
		f.Add([]byte(m.input), uint64(7), m.password)
	}
	for _, text := range []string{
		"acquire k\r\nwrite k\r\nmany a b k\r\nextendmore k\r\nping\r\nquit\r\n",
		"*6\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
		"HELLO 3\r\nDEL a b\r\nquiet\r\nCLIENT REPLY OFF\r\nping\r\nCLIENT REPLY ON\r\nGET \"\\x41\"\r\n",
		"AUTH secret\r\nEVAL \"return 1\" 0\r\nRESET\r\n",
		"big 2000\r\nbig 100000\r\nping\r\n",
	} {
		f.Add([]byte(text), uint64(3), false)
		f.Add([]byte(text), uint64(8), true)
	}
	f.Fuzz(func(t *testing.T, input []byte, seed uint64, password bool) {
		lower := strings.ToLower(string(input))
		if len(input) > 20000 || strings.Count(lower, "big") > 3 { // many long replies take long, and tell no more
			return
		}
		// What differs from one time to the next, and the panics that the
		// session is asked for.
		for _, word := range []string{"info", "list", "panic"} {
			if strings.Contains(lower, word) {
				return
			}
		}
		whole := converse(t, input, 0, password)
		cut := converse(t, input, seed|1, password)
		// An HTTP client is cut off with what it is owed.
		http := strings.Contains(lower, "post") || strings.Contains(lower, "host:")
		if whole != cut && !http {
			t.Errorf("%q\nwhole: %q\ncut:   %q", input, whole, cut)
		}
	})
}
