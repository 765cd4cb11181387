package commands

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"redlock-proxy/commands/recognise"
	"redlock-proxy/integration/transcript"
	"redlock-proxy/quorum"
)

// do splits a line as redis-cli does and puts it to a session.
func do(t testing.TB, s *Session, line string) Action {
	t.Helper()
	args, err := transcript.Split(line)
	if err != nil {
		t.Fatal(err)
	}
	return s.Do(args)
}

const (
	compareAndDelete = `"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end"`
	compareAndExpire = `"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end"`
)

func writing(r quorum.Request, args ...string) []quorum.Request {
	r.Kind, r.Key, r.Args = quorum.Write, "k", args
	return []quorum.Request{r}
}

func running(s *quorum.Script, args ...string) []quorum.Request {
	return []quorum.Request{{Kind: quorum.Run, Script: s, Key: "k", Keys: []string{"k"}, Args: args}}
}

func about(r quorum.Request) []quorum.Request { r.Key = "k"; return []quorum.Request{r} }

var requestRows = map[string][]quorum.Request{
	"SET k t NX PX 30000":           about(quorum.Request{Kind: quorum.Acquire, Token: "t", TTL: 30 * time.Second}),
	"SET k t EX 30 GET NX":          about(quorum.Request{Kind: quorum.Acquire, Token: "t", TTL: 30 * time.Second, TellsValue: true}),
	"SET k t NX EXAT 4102444800":    about(quorum.Request{Kind: quorum.Acquire, Token: "t", At: 4102444800000}),
	"SET k t NX PXAT 4102444800123": about(quorum.Request{Kind: quorum.Acquire, Token: "t", At: 4102444800123}),
	"SET k t NX":                    about(quorum.Request{Kind: quorum.Acquire, Token: "t"}),
	"SET k t NX KEEPTTL":            about(quorum.Request{Kind: quorum.Acquire, Token: "t"}),
	"SETNX k t":                     about(quorum.Request{Kind: quorum.Acquire, Token: "t"}),

	"SET k v":                             writing(quorum.Request{}, "SET", "k", "v"),
	"SET k v ex 3 get xx":                 writing(quorum.Request{TTL: 3 * time.Second, TTLArg: 6}, "SET", "k", "v", "XX", "GET", "PX", ""),
	"SET k v KEEPTTL":                     writing(quorum.Request{}, "SET", "k", "v", "KEEPTTL"),
	"SET k v PXAT 4102444800000":          writing(quorum.Request{At: 4102444800000, TTLArg: 4}, "SET", "k", "v", "PX", ""),
	"SETEX k 3 v":                         writing(quorum.Request{TTL: 3 * time.Second, TTLArg: 4}, "SET", "k", "v", "PX", ""),
	"PSETEX k 3 v":                        writing(quorum.Request{TTL: 3 * time.Millisecond, TTLArg: 4}, "SET", "k", "v", "PX", ""),
	"EXPIRE k 3":                          writing(quorum.Request{TTL: 3 * time.Second, TTLArg: 2}, "PEXPIRE", "k", ""),
	"pexpire k 3 lt xx":                   writing(quorum.Request{TTL: 3 * time.Millisecond, TTLArg: 2}, "PEXPIRE", "k", "", "XX", "LT"),
	"EXPIREAT k 4102444800 nx":            writing(quorum.Request{At: 4102444800000, TTLArg: 2}, "PEXPIRE", "k", "", "NX"),
	"PEXPIREAT k 4102444800000":           writing(quorum.Request{At: 4102444800000, TTLArg: 2}, "PEXPIRE", "k", ""),
	"EXPIRE k -3 GT":                      writing(quorum.Request{}, "PEXPIRE", "k", "-3000", "GT"),
	"EXPIREAT k -3 GT":                    writing(quorum.Request{}, "PEXPIREAT", "k", "-3000", "GT"),
	"PERSIST k":                           writing(quorum.Request{}, "PERSIST", "k"),
	"EXPIRE k 0":                          about(quorum.Request{Kind: quorum.Remove}),
	"PEXPIREAT k -1":                      about(quorum.Request{Kind: quorum.Remove}),
	"UNLINK k":                            about(quorum.Request{Kind: quorum.Remove}),
	"DEL k j":                             {{Kind: quorum.Remove, Key: "k"}, {Kind: quorum.Remove, Key: "j"}},
	"EXISTS k k":                          {{Kind: quorum.Read, Key: "k"}, {Kind: quorum.Read, Key: "k"}},
	"GET k":                               about(quorum.Request{Kind: quorum.Read, ValueOnly: true}),
	"SET k t NX PX 9000000000000":         about(quorum.Request{Kind: quorum.Acquire, Token: "t", Far: 9000000000000}),
	"SET k t NX PXAT 9223372036854775807": about(quorum.Request{Kind: quorum.Acquire, Token: "t", At: 9223372036854775807}),

	"MGET k j":   {{Kind: quorum.Read, Key: "k", ValueOnly: true}, {Kind: quorum.Read, Key: "j", ValueOnly: true}},
	"MGET k j k": {{Kind: quorum.Read, Key: "k", ValueOnly: true}, {Kind: quorum.Read, Key: "j", ValueOnly: true}},
	"INCR k":     running(countUp, "INCR", "k"),
	"GETSET k v": about(quorum.Request{Kind: quorum.Read, ValueOnly: true}),
	"GETEX k":    about(quorum.Request{Kind: quorum.Read, ValueOnly: true}),

	"GETRANGE k 0 1":            about(quorum.Request{Kind: quorum.Read, ValueOnly: true}),
	"DELEX k":                   about(quorum.Request{Kind: quorum.Remove}),
	"DELEX k IFEQ t":            about(quorum.Request{Kind: quorum.Release, Token: "t"}),
	"SET k t IFEQ t":            about(quorum.Request{Kind: quorum.Extend, Token: "t"}),
	"SET k t PX 30000 ifeq t":   about(quorum.Request{Kind: quorum.Extend, Token: "t", TTL: 30 * time.Second}),
	"SET k t IFEQ t PXAT 99999": running(setIfScript, "IFEQ", "t", "", "t", "PXAT", "99999"),
	"SET k t IFEQ t KEEPTTL":    running(setIfScript, "IFEQ", "t", "", "t", "KEEPTTL"),
	"SET k t IFEQ t GET":        running(setIfScript, "IFEQ", "t", "GET", "t"),
	"SET k u EX 3 IFEQ t":       running(setIfScript, "IFEQ", "t", "", "u", "PX", "3000"),
	"SET k u IFNE t":            running(setIfScript, "IFNE", "t", "", "u"),
	"DELEX k ifne t":            running(deleteIfNotScript, "t"),
	"GETEX k exat 4102444800":   running(plainStep, "GETEX", "k", "PXAT", "4102444800000"),
	"GETEX k PERSIST":           running(plainStep, "GETEX", "k", "PERSIST"),
	"hget k f":                  running(plainScript, "HGET", "k", "f"),
	"HGETALL k":                 running(plainScript, "HGETALL", "k"),
	"smembers k":                running(plainScript, "SMEMBERS", "k"),
	"lpush k a b":               running(exactStep, "LPUSH", "k", "a", "b"),
	"lrange k 0 -1":             running(plainScript, "LRANGE", "k", "0", "-1"),
	"rpoplpush k j": {{Kind: quorum.Run, Script: exactStep, Key: "k", Keys: []string{"k", "j"},
		Args: []string{"RPOPLPUSH", "k", "j"}}},
	"lmpop 2 k j left": {{Kind: quorum.Run, Script: exactStep, Key: "k", Keys: []string{"k", "j"},
		Args: []string{"LMPOP", "2", "k", "j", "left"}}},
	"ZMPOP 1 k MIN": running(exactStep, "ZMPOP", "1", "k", "MIN"),
	"zpopmin k 2":   running(exactStep, "ZPOPMIN", "k", "2"),
	"HINCRBY k f 5": running(countField, "HINCRBY", "k", "f", "5"),
	"INCRBY k 5":    running(countUp, "INCRBY", "k", "5"),
	"INCRBY k -5":   running(countDown, "INCRBY", "k", "-5"),
	"DECR k":        running(countDown, "DECR", "k"),
	"DECRBY k -5":   running(countUp, "DECRBY", "k", "-5"),
	"MSETNX k a j b": {{Kind: quorum.Run, Script: plainStep, Key: "k", Keys: []string{"k", "j"},
		Args: []string{"MSETNX", "k", "a", "j", "b"}}},

	"EVAL " + compareAndDelete + " 1 k t":    about(quorum.Request{Kind: quorum.Release, Token: "t"}),
	"EVAL " + compareAndExpire + " 1 k t 30": about(quorum.Request{Kind: quorum.Extend, Token: "t", TTL: 30 * time.Millisecond}),
	"EVAL " + compareAndExpire + " 1 k t 0":  about(quorum.Request{Kind: quorum.Release, Token: "t"}),
}

func TestCommandsComeToTheseRequests(t *testing.T) {
	for line, want := range requestRows {
		args, err := transcript.Split(line)
		if err != nil {
			t.Fatal(err)
		}
		a := NewDialect(Options{}).Session(1).Do(args)
		clear(args) // another command's are next in the same place
		if !reflect.DeepEqual(a.Requests, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", line, a.Requests, want)
		}
		if a.Render == nil || a.Command == nil {
			t.Errorf("%s: nobody renders the results", line)
		}
	}
}

// The engine and scripts of ours compare names of commands and options: they get one
// spelling, whatever the client's is.
func TestSpellingOfACommandGoesNoFurther(t *testing.T) {
	numbers := "1 2 3 4 5 6"
	lines := []string{
		"SET k v EX 3 GET XX", "SET k v NX GET PXAT 4102444800000", "SET k u IFNE t KEEPTTL", "DELEX k IFNE t",
		"PEXPIRE k 3 LT XX", "PEXPIRE k -3 GT", "GETEX k EXAT 4102444800", "GETEX k PERSIST", "SCAN 0 COUNT 5 MATCH x",
	}
	for _, c := range Table() {
		if words := c.Arity; c.parent == nil && len(c.Subcommands) == 0 {
			if words < 0 {
				words = -words
			}
			lines = append(lines, c.typed()+" "+numbers[:2*(words-1)])
		}
	}
	surveys := 0
	for _, line := range lines {
		requests := func(line string) []quorum.Request {
			requests := do(t, NewDialect(Options{Users: everybodyOperates}).Session(1), line).Requests
			if word := strings.ToUpper(strings.Fields(line)[0]); word == "SPOP" || word == "SRANDMEMBER" {
				requests[0].Args[2] = "by chance"
			}
			return requests
		}
		want := requests(line)
		if got := requests(strings.ToLower(line)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s in lower case\ngot  %+v\nwant %+v", line, got, want)
		}
		if len(want) > 0 && want[0].Kind == quorum.Survey {
			surveys++
		}
	}
	if surveys < 5 {
		t.Errorf("of %d commands, %d ask all masters", len(lines), surveys)
	}
}

func TestOverMaxTTLIsRefusedWhereAsked(t *testing.T) {
	const long = "ERR the ttl is longer than max-ttl (5m0s), which over-max-ttl refuses"
	const none = "ERR a key without a ttl outlives max-ttl (5m0s), which over-max-ttl refuses"
	now := time.Unix(4102444800, 0)
	o := Options{MaxTTL: 5 * time.Minute, RefuseOverMaxTTL: true, Now: func() (time.Time, bool) { return now, true }}
	expireOrPersist := &script{sha: "f", known: true, shape: recognise.Shape{
		Class: quorum.Extend, Key: 1, Token: 1, TTL: 2, Unit: time.Second, OrPersist: true, Yes: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}}}
	for line, want := range map[string]string{
		"SET k v NX PX 300000":           "",
		"SET k v NX PX 300001":           long,
		"SET k v EX 301":                 long,
		"SET k v NX":                     none,
		"SET k v":                        none,
		"SET k v XX":                     none,
		"SET k v KEEPTTL":                none,
		"SET k v KEEPTTL XX":             "",
		"SETNX k v":                      none,
		"SETEX k 300 v":                  "",
		"SETEX k 301 v":                  long,
		"SET k v PXAT 4102445100000":     "",
		"SET k v NX PXAT 4102445100001":  long,
		"SET k v NX EXAT 99999999999999": long,
		"EXPIRE k 300":                   "",
		"EXPIRE k 301 LT":                long,
		"EXPIRE k -301":                  "",
		"EXPIREAT k 4102445101":          long,
		"PERSIST k":                      none,
		"EVALSHA f 1 k t 300":            "",
		"EVALSHA f 1 k t 301":            long,
		"EVALSHA f 1 k t 0":              none,
	} {
		d := NewDialect(o)
		a := do(t, d.Session(1), rename(d, expireOrPersist, line))
		if a.Reply.Str != want {
			t.Errorf("%s: %q, want %q", line, a.Reply.Str, want)
		}
		if (want == "") != (len(a.Requests) == 1) {
			t.Errorf("%s: requests %v", line, a.Requests)
		}
		o := o
		o.RefuseOverMaxTTL = false
		d = NewDialect(o)
		if a := do(t, d.Session(1), rename(d, expireOrPersist, line)); len(a.Requests) != 1 {
			t.Errorf("%s is refused although it should be kept: %q", line, a.Reply.Str)
		}
	}
}

// Semaphores and fences of libraries are hashes, sets and counters that have no ttl, or are
// given it once they are made.
func TestOverMaxTTLRefusesNothingButStrings(t *testing.T) {
	d := NewDialect(Options{MaxTTL: 5 * time.Minute, RefuseOverMaxTTL: true})
	for _, line := range []string{
		"INCR k", "INCRBY k 2", "DECR k", "DECRBY k 2", "HSET k f v", "HSETNX k f v", "HINCRBY k f 1", "SADD k m", "ZADD k 1 m", "ZADD k INCR 1 m", "RPUSH k e",
	} {
		if a := do(t, d.Session(1), line); len(a.Requests) != 1 {
			t.Errorf("%s: %q", line, a.Reply.Str)
		}
	}
	s := d.Session(1)
	a := exec(t, s, "HSET k f v", "PEXPIRE k 500", "INCR fence")
	if len(a.Requests) != 1 {
		t.Errorf("%+v", a.Reply)
	}
	const text = "redis.call('hset', KEYS[1], 'f', 1) redis.call('pexpire', KEYS[1], ARGV[1])"
	for _, ttl := range []string{"500", "500000"} {
		if a := s.Do([]string{"EVAL", text, "1", "k", ttl}); len(a.Requests) != 1 || a.Requests[0].Kind != quorum.Run {
			t.Errorf("%+v", a)
		}
	}
}

func TestTimesOfDayAreNotJudgedWithoutAClock(t *testing.T) {
	d := NewDialect(Options{MaxTTL: time.Minute, RefuseOverMaxTTL: true})
	if a := do(t, d.Session(1), "SET k v NX PXAT 4102445100001"); len(a.Requests) != 1 {
		t.Errorf("%+v", a.Reply)
	}
}
