package proxy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/proxy/resp"
)

func TestBehindKeepsWhatItIsGivenInNoMuchLargerRoom(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		var b behind
		var want []byte
		for range 300 {
			if r.IntN(2) == 0 {
				p := bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(5000))
				b.add(p)
				want = append(want, p...)
			} else {
				n := r.IntN(len(want) + 1)
				want = want[len(want)-n:]
				b.leave(n)
			}
			if !bytes.Equal(b.rest(), want) {
				t.Fatalf("seed %d: %d bytes are kept, and not these %d", seed, b.size(), len(want))
			}
			if room := cap(b.all); room > 2*len(want)+5000 {
				t.Fatalf("seed %d: %d bytes are kept in room for %d", seed, len(want), room)
			}
		}
	}
}

// A connection that is not read from would not take that much, and nobody see its end.
func TestWhoGoesAwayBehindMuchTakesNoElement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := newBlockingRig(t, Config{})
		c, pusher := r.dial(), r.dial()
		c.send("BLPOP q 0\r\n")
		time.Sleep(3 * roundTrip)
		c.nc.SetWriteDeadline(time.Now().Add(patience))
		c.send(strings.Repeat("RPUSH p x\r\n", 100_000))
		c.nc.Close()
		time.Sleep(roundTrip)
		if n := r.server.blocked.count.Load(); n != 0 {
			t.Errorf("%d are blocked", n)
		}
		pusher.send("RPUSH q v\r\n")
		pusher.gets(":1\r\n", roundTrip)
		e.mu.Lock()
		if len(e.lists["q"]) != 1 || len(e.lists["p"]) != 0 {
			t.Errorf("there is %v", e.lists)
		}
		e.mu.Unlock()
		r.end()
	})
}

// As long as nobody knows whether he stands in line, a client is not read from instead.
func TestWhoSendsTooMuchBehindABlockedCommandIsCutOff(t *testing.T) {
	const most = 4000
	for name, row := range map[string]struct {
		there string // in q
		sends int
		want  string
	}{
		"he waits":              {"", most + 20, ""},
		"he waits, with enough": {"", most - 20, popped("q", "late") + strings.Repeat("+PONG\r\n", (most-20)/6)},
		"he has it at once":     {"v", 3 * most, popped("q", "v") + strings.Repeat("+PONG\r\n", 3*most/6)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, e := newBlockingRig(t, Config{Limits: Limits{Input: resp.Limits{MaxQuery: most}}})
				if row.there != "" {
					e.lists["q"] = []string{row.there}
				}
				c, pusher := r.dial(), r.dial()
				go c.nc.Write([]byte("BLPOP q 0\r\n" + strings.Repeat("PING\r\n", row.sends/6)))
				time.Sleep(5 * roundTrip)
				pusher.send("RPUSH q late\r\n")
				pusher.expect(":1\r\n")
				cut := uint64(0)
				if c.expect(row.want); row.want == "" {
					c.expectEnd("")
					cut = 1
				}
				if n := r.server.stats.queryLimit.Load(); n != cut {
					t.Errorf("%d were cut off, want %d", n, cut)
				}
				e.mu.Lock()
				if left := len(e.lists["q"]); (left == 0) == (cut == 1 || row.there != "") {
					t.Errorf("%d elements are left", left)
				}
				e.mu.Unlock()
				r.end()
			})
		})
	}
}

// What is kept is carried out in its order, whatever pieces it comes in, and once.
func TestWhatIsKeptIsCarriedOutInItsOrder(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			r, _ := newBlockingRig(t, Config{Timeout: time.Duration(seed%2) * time.Second})
			random := rand.New(rand.NewPCG(seed, 0))
			var text, want, pushes string
			for i := range 200 {
				key := fmt.Sprint("q", i)
				switch random.IntN(6) {
				case 0: // somebody else brings it, sooner or later
					text += "BLPOP " + key + " 0\r\n"
					want += popped(key, "v")
					pushes += "RPUSH " + key + " v\r\n"
				case 1: // it is there
					text += "RPUSH " + key + " v\r\nBRPOP none " + key + " 0\r\n"
					want += ":1\r\n" + popped(key, "v")
				case 2:
					text += "BLPOP " + key + " .003\r\n"
					want += gone
				default:
					text += fmt.Sprintf("ECHO %03d\r\n", i)
					want += fmt.Sprintf("$3\r\n%03d\r\n", i)
				}
			}
			inPieces := func(c *client, text string, most int) {
				c.nc.SetWriteDeadline(time.Now().Add(patience))
				for len(text) > 0 {
					n := min(1+random.IntN(most), len(text))
					c.send(text[:n])
					text = text[n:]
					time.Sleep(time.Duration(random.IntN(3)) * roundTrip)
				}
			}
			c := r.dial()
			inPieces(c, text, 400)
			time.Sleep(5 * time.Second) // whoever is blocked is not silent for too long
			inPieces(r.dial(), pushes, 30)
			c.expect(want)
			c.send("PING\r\n")
			c.expect("+PONG\r\n")
			r.end()
		})
	}
}

// A server that ends has what it has read be answered, without waiting for any element.
func TestWhatIsKeptIsAnsweredAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newBlockingRig(t, Config{})
		c := r.dial()
		c.send("BLPOP q 0\r\nPING\r\nBLPOP q 0\r\nECHO x\r\n")
		time.Sleep(3 * roundTrip)
		go r.end()
		c.expectEnd(gone + "+PONG\r\n" + gone + "$1\r\nx\r\n")
		r.end()
	})
}
