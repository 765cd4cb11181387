package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/master"
)

// held is what a script finds at a master, or leaves there.
type held map[string]heldValue

type heldValue struct {
	value string
	left  time.Duration // 0: it has no expiry
}

// side is a real Redis, or the double of one.
type side interface {
	has(held)                                               // and nothing else
	run(s *master.Script, keys []string, argv []string) any // what it answers
	holds(key string) (heldValue, bool)
	dump(value string) string
}

type realSide struct {
	t *testing.T
	c *integration.Client
}

func (r realSide) do(args ...string) any {
	r.t.Helper()
	reply, err := r.c.Do(args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return reply
}

func (r realSide) has(h held) {
	r.do("FLUSHALL")
	for key, v := range h {
		if of, steps := strings.CutPrefix(key, leftBySteps("")); steps {
			r.do("HSET", quorum.StepsKey, of, strings.Repeat("0", 37))
		} else if v.left == 0 {
			r.do("SET", key, v.value)
		} else {
			r.do("SET", key, v.value, "PX", fmt.Sprint(v.left.Milliseconds()))
		}
	}
}

func (r realSide) run(s *master.Script, keys, argv []string) any {
	args := append([]string{"EVAL", s.Text, fmt.Sprint(len(keys))}, keys...)
	return r.do(append(args, argv...)...)
}

func (r realSide) holds(key string) (v heldValue, ok bool) {
	if of, steps := strings.CutPrefix(key, leftBySteps("")); steps {
		return v, r.do("HEXISTS", quorum.StepsKey, of) == int64(1)
	}
	if v.value, ok = r.do("GET", key).(string); ok {
		left, _ := r.do("PTTL", key).(int64)
		v.left = max(time.Duration(left)*ms, 0)
	}
	return v, ok
}

func (r realSide) dump(value string) string {
	r.do("SET", "to be dumped", value)
	defer r.do("DEL", "to be dumped")
	dump, _ := r.do("DUMP", "to be dumped").(string)
	return dump
}

type doubleSide struct{ m *fakeMaster }

func (d doubleSide) has(h held) {
	d.m.locked(d.m.flushAll)
	for key, v := range h {
		d.m.put(key, v.value, v.left)
	}
}

func (d doubleSide) run(s *master.Script, keys, argv []string) any {
	d.m.learn(s.SHA)
	args := append([]string{"EVAL", s.Text, fmt.Sprint(len(keys))}, keys...)
	if d.m.scripts[s.SHA] != nil {
		args[0], args[1] = "EVALSHA", s.SHA
	}
	args = append(args, argv...)
	reply := d.m.step(args)
	if reply == "" {
		reply = d.m.do(args, 0)
	}
	return decoded(&reply)
}

// decoded takes one reply from the text of several.
func decoded(text *string) any {
	line, rest, _ := strings.Cut(*text, "\r\n")
	*text = rest
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case ':':
		return int64(n)
	case '$':
		if n < 0 {
			return nil
		}
		s := rest[:n]
		*text = rest[n+2:]
		return s
	case '*':
		if n < 0 {
			return nil
		}
		list := make([]any, n)
		for i := range list {
			list[i] = decoded(text)
		}
		return list
	}
	return line
}

func (d doubleSide) holds(key string) (v heldValue, ok bool) {
	d.m.locked(func() {
		k, there := d.m.key(key)
		if ok = there; strings.HasPrefix(key, leftBySteps("")) {
			return // what it says is another thing on each
		}
		v.value = k.value
		if k.until != 0 {
			v.left = max(time.Duration(d.m.pttl(k))*ms, 0)
		}
	})
	return v, ok
}

func (d doubleSide) dump(value string) string { return stringDump(value) }

// bothSides are a real Redis and a double.
func bothSides(t *testing.T) [2]side {
	t.Helper()
	redis, err := integration.StartRedis(integration.RedisOptions{Unix: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := redis.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := redis.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return [2]side{realSide{t, c}, doubleSide{newFakeMaster("double")}}
}

// beside tells whether both sides answer a script alike, and hold the same afterwards, up to what
// time has passed between.
func beside(t *testing.T, sides [2]side, name string, h held, s *master.Script, keys []string, argv func(side) []string) {
	t.Helper()
	var answers [2]any
	for i, side := range sides {
		side.has(h)
		answers[i] = side.run(s, keys, argv(side))
	}
	if fmt.Sprint(answers[0]) != fmt.Sprint(answers[1]) {
		t.Errorf("%s: a master answers %v, its double %v", name, answers[0], answers[1])
	}
	for _, key := range append(keys, journal.Latch(keys[0]), leftBySteps("k")) {
		one, is := sides[0].holds(key)
		other, too := sides[1].holds(key)
		if is != too || one.value != other.value || (one.left == 0) != (other.left == 0) || (one.left-other.left).Abs() > 5*time.Second {
			t.Errorf("%s: a master holds %v %v in %q, its double %v %v", name, is, one, key, too, other)
		}
	}
}
