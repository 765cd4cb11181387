package proxy

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"redlock-proxy/proxy/resp"
)

// colliding are n words of as many bytes that Lua keeps at one place, as long as it has no more than
// a thousand places.
func colliding(n int) (words []string) {
	for i := 10_000_000; len(words) < n; i++ {
		word := strconv.Itoa(i)
		h := uint32(len(word))
		for j := len(word) - 1; j >= 0; j-- {
			h ^= h<<5 + h>>2 + uint32(word[j])
		}
		if h%1024 == 0 {
			words = append(words, word)
		}
	}
	return words
}

// TestArgumentsThatCollideWaitForTheirTurn, of a command as of a script that is known, and so many that
// they would keep a master for long are refused. Others are not, however many.
func TestArgumentsThatCollideWaitForTheirTurn(t *testing.T) {
	words := colliding(3900)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Limits: Limits{Input: resp.Limits{MaxArgs: 5000}}})
		one, other, third := r.dial(), r.dial(), r.dial()
		one.evals("return(1)", "k")
		r.engine.answer(t, "k", fine)
		one.told("+OK")
		send := func(c *client, before string, words []string) {
			all := append(strings.Split(before, " "), words...)
			text := fmt.Sprintf("*%d\r\n", len(all))
			for _, word := range all {
				text += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
			}
			c.send(text)
			synctest.Wait()
		}
		send(one, "HMGET h1", words[:700])
		send(other, "EVAL return(1) 1 h2", words[:700])
		send(third, "HMGET h3", counted(3900))
		if got := r.engine.keys(); !strings.HasSuffix(got, "script:h1 script:h3") {
			t.Errorf("put: %s, want h1 and h3", got)
		}
		r.engine.answer(t, "h1", fine)
		one.told("+OK")
		synctest.Wait()
		r.engine.answer(t, "h2", fine)
		other.told("+OK")
		r.engine.answer(t, "h3", fine)
		third.told("+OK")
		puts := r.put()
		send(one, "HMGET h1", words)
		one.told("-ERR too many of the arguments collide")
		send(one, "SADD s", words)
		one.told("-ERR too many of the arguments collide")
		send(one, "EVAL return(1) 1 k", words)
		one.told("-ERR too many of the arguments collide")
		if got := r.put(); got != puts {
			t.Errorf("%d requests are put of which the arguments collide", got-puts)
		}
		r.end()
	})
}

func counted(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = strconv.Itoa(10_000_000 + i)
	}
	return words
}
