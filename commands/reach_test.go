package commands

import (
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

func TestScriptThatNamesItsKeysByKEYSReachesNoOther(t *testing.T) {
	for body, want := range map[string]bool{
		"return redis.call('get', KEYS[1])":                                                false,
		"redis.call('hset', KEYS[2], ARGV[1], 1) redis.call('PEXPIRE', KEYS[2], ARGV[2])":  false,
		"if redis.pcall('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end": false,
		"redis.call('publish', 'free', ARGV[1]) return redis.call('time')":                 false,
		"local n = #KEYS return redis.call('ping')":                                        false,
		"return redis.call('get', KEYS[1] .. ':x')":                                        true,
		"return redis.call('get', '{k}:x')":                                                true,
		"return redis.call('get', ARGV[1])":                                                true,
		"return redis.call('del', KEYS[1], '{k}:x')":                                       true,
		"return redis.call('del', KEYS[1], KEYS[2])":                                       true, // which is not looked into
		"return redis.call('rename', KEYS[1], '{k}:x')":                                    true,
		"return redis.call('mset', KEYS[1], 1, '{k}:x', 2)":                                true,
		"return redis.call('lmpop', 1, '{k}:x', 'LEFT')":                                   true,
		"return redis.call('object', 'encoding', '{k}:x')":                                 true,
		"return redis.call(ARGV[1], KEYS[1])":                                              true,
		"local c = redis.call return c('get', KEYS[1])":                                    true,
		"KEYS[1] = '{k}:x' return redis.call('get', KEYS[1])":                              true,
		"local KEYS = {'{k}:x'} return redis.call('get', KEYS[1])":                         true,
		"for _, k in ipairs(KEYS) do redis.call('get', k) end":                             true,
		"return redis.call('get', KEYS[ARGV[1]])":                                          true,
		"return redis.call('nosuch', KEYS[1])":                                             true,
		"return redis.call('get', unpack(ARGV))":                                           true,
	} {
		sc := newScript(body, quorum.DefaultBounds)
		called := callsOf(body)
		if got := called.reaches(); got != want || sc.journaled != nil && sc.journaled.Reaches != want {
			t.Errorf("%s: it reaches others: %v", body, got)
		}
	}
}

// Who may not use all keys may use none by a script that he was not judged by.
func TestScriptReachesOthersForWhoMayUseAllKeys(t *testing.T) {
	script := `"return redis.call('incr', KEYS[1] .. ARGV[1])"`
	for rules, want := range map[string]bool{
		"~* +@all":                         true,
		"~* +eval +incr":                   true, // who may not call all a script can is looked at
		"~a* +@all":                        false,
		"~a* +@all (~* +eval +get)":        false,
		"~a* +@all (~* +eval +incr)":       true,
		"~a* ~{a}* +eval +incr +multi +ex": false,
	} {
		rules = strings.ReplaceAll(rules, "+ex", "+exec +get")
		d := NewDialect(Options{})
		if _, err := d.SetUsers("user ann on nopass " + rules + "\n"); err != nil {
			t.Fatalf("%s: %v", rules, err)
		}
		s := d.Session(1)
		do(t, s, "AUTH ann x")
		a := do(t, s, "EVAL "+script+" 1 a :x")
		if len(a.Requests) != 1 || a.Requests[0].Script.Reaches != want {
			t.Errorf("%s: %s %+v", rules, a.Reply.Str, a.Requests)
		}
		if !strings.Contains(rules, "+@all") && !strings.Contains(rules, "+multi") || strings.Contains(rules, "(") {
			continue
		}
		do(t, s, "MULTI")
		do(t, s, "EVAL "+script+" 1 a :x")
		do(t, s, "GET a")
		a = do(t, s, "EXEC")
		if len(a.Requests) != 1 || a.Requests[0].Script.Reaches != want {
			t.Errorf("%s, in a transaction: %s %+v", rules, a.Reply.Str, a.Requests)
		}
	}
}

func TestTransactionReachesOthersIfAScriptOfItDoes(t *testing.T) {
	for script, want := range map[string]bool{"return redis.call('incr', KEYS[1])": false, "return redis.call('incr', KEYS[1] .. ':x')": true} {
		s := NewDialect(Options{}).Session(1)
		a := do(t, queues(t, s, []string{"EVAL", script, "1", "k"}, []string{"GET", "k"}), "EXEC")
		if got := a.Requests[0].Script; got.Reaches != want || !got.Latches {
			t.Errorf("%s: %v", script, got.Reaches)
		}
		if a = do(t, queues(t, s, []string{"EVAL", script, "1", "k"}), "EXEC"); a.Requests[0].Script.Reaches != want {
			t.Errorf("%s, alone: %v", script, a.Requests[0].Script.Reaches)
		}
	}
}
