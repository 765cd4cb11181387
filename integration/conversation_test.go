package integration

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration/transcript"
)

// TestConversationsReadTheSame holds the conversations of the commands package
// with one real Redis, and with the proxy over real masters; and those that are
// here, because their commands are scripts on the masters.
func TestConversationsReadTheSame(t *testing.T) {
	t.Parallel()
	files, err := transcript.Glob("../commands/testdata/*.txt")
	must(t, err)
	scripted, err := transcript.Glob("testdata/*.txt")
	must(t, err)
	files = append(files, scripted...)
	t.Run("Redis", func(t *testing.T) {
		m := startMaster(t, RedisOptions{Server: Installed})
		for _, file := range files {
			converse(t, file, transcript.Redis, m.Addr, []*Redis{m}, func(t *testing.T) (string, []*Redis) {
				secured := startMaster(t, RedisOptions{Server: Installed, Password: file.Password})
				return secured.Addr, []*Redis{secured}
			})
		}
	})
	for _, n := range []int{1, 3, 5} {
		t.Run(fmt.Sprintf("proxy over %d", n), func(t *testing.T) {
			masters, p := startQuorum(t, n)
			for _, file := range files {
				converse(t, file, transcript.Proxy, p.Addr, masters, func(t *testing.T) (string, []*Redis) {
					return startSecured(t, masters, file.Password).Addr, masters
				})
			}
		})
	}
}

// converse holds one conversation in both protocols. A server that asks for a
// password is started for the conversation that needs it.
func converse(t *testing.T, file *transcript.File, side transcript.Side, addr string, masters []*Redis, secured func(*testing.T) (string, []*Redis)) {
	if file.Only != "" && file.Only != side {
		return
	}
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("%s/RESP%d", file.Name, proto), func(t *testing.T) {
			addr, masters := addr, masters
			if file.Password != "" {
				addr, masters = secured(t)
			} else if side == transcript.Proxy {
				awaitIdle(t, addr)
			}
			blank(t, masters)
			if side == transcript.Redis {
				// From a proxy's masters scripts are not taken: a step that meets that, and is
				// followed by another in one batch, may be answered NOQUORUM.
				direct(t, masters[0]).want("OK", "SCRIPT", "FLUSH")
			}
			transcript.Run(t, file, transcript.Target{
				Side: side, Proto: proto, Wait: time.Sleep,
				Dial: func(int) (transcript.Conn, error) {
					conn, err := net.Dial("tcp", addr)
					if err != nil {
						return nil, err
					}
					t.Cleanup(func() { conn.Close() })
					return transcript.NewWire(conn), conn.SetDeadline(time.Now().Add(2 * time.Minute))
				},
				Masters: func(args []string) error { return behindItsBack(t, masters, args) },
			})
		})
	}
}

// awaitIdle waits until all masters have carried out what the proxy has put to them: of what was
// answered before, one of them may have been late.
func awaitIdle(t *testing.T, addr string) {
	t.Helper()
	c := dial(t, addr)
	eventually(t, func() error {
		told := c.text("INFO", "quorum")
		busy := !strings.Contains(told, "in_flight:0\r\n")
		for line := range strings.SplitSeq(told, "\r\n") {
			if _, rest, is := strings.Cut(line, ",queue="); is {
				busy = busy || !strings.HasPrefix(rest, "0,in_batch=0,")
			}
		}
		if busy {
			return fmt.Errorf("the proxy is not idle: %s", told)
		}
		return nil
	})
}

// emptyAll takes every key from a server, but not a marker.
const emptyAll = `for d=0,15 do redis.call('SELECT',d) local m=redis.call('GET',KEYS[1])
redis.call('FLUSHDB') if m then redis.call('SET',KEYS[1],m) end end return 'OK'`

// blank takes every key from the masters, but not their markers.
func blank(t *testing.T, masters []*Redis) {
	t.Helper()
	for _, m := range masters {
		direct(t, m).want("OK", "EVAL", emptyAll, "1", "redlock-proxy:{marker}")
		direct(t, m).want("OK", "SLOWLOG", "RESET") // on a busy machine that was slow
	}
}

// behindItsBack puts a command to every master itself.
func behindItsBack(t *testing.T, masters []*Redis, args []string) error {
	var err error
	for _, m := range masters {
		if f, ok := ask(t, m, args...).(Failure); ok {
			err = errors.Join(err, f)
		}
	}
	return err
}
