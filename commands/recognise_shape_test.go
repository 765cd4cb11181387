package commands

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func TestRecognisedScriptsDoWhatTheirShapeSays(t *testing.T) {
	server := newLuaServer(t)
	for _, s := range lockScripts(t) {
		if !s.known {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			sh, ok := recognise(s.text)
			if !ok {
				t.Fatal("not recognised")
			}
			if difference := server.check(t, s.text, sh, scriptCases(sh)); difference != "" {
				t.Error(difference)
			}
		})
	}
}

// TestTheCheckFindsWrongShapes: a check that finds nothing proves nothing.
func TestTheCheckFindsWrongShapes(t *testing.T) {
	server := newLuaServer(t)
	const extend = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
	right, ok := recognise(extend)
	if !ok || server.check(t, extend, right, scriptCases(right)) != "" {
		t.Fatal("the right shape is not right")
	}
	for name, wrong := range map[string]func(*shape){
		"class": func(s *shape) {
			*s = shape{class: quorum.Release, keys: 1, args: 1, key: 1, token: 1, yes: s.yes, other: s.other, absent: s.absent}
		},
		"key":       func(s *shape) { s.key, s.keys = 2, 2 },
		"token":     func(s *shape) { s.token, s.args = 3, 3 },
		"unit":      func(s *shape) { s.unit = time.Second },
		"absolute":  func(s *shape) { s.absolute = true },
		"needsTTL":  func(s *shape) { s.needsTTL = true },
		"orPersist": func(s *shape) { s.orPersist = true },
		"greater":   func(s *shape) { s.greater = true },
		"additive":  func(s *shape) { s.additive, s.args = 3, 3 },
		"yes":       func(s *shape) { s.yes = OK },
		"other":     func(s *shape) { s.other = Null },
		"absent":    func(s *shape) { s.absent = Integer(-1) },
	} {
		sh := right
		wrong(&sh)
		if server.check(t, extend, sh, scriptCases(sh)) == "" {
			t.Errorf("a wrong %s is not found", name)
		}
	}
	for text, wrong := range map[string]func(*shape){
		"if redis.call('get', KEYS[1]) == ARGV[1] and ARGV[2] then return redis.call('del', KEYS[1]) end return 0":         func(s *shape) { s.args = 1 },
		"if redis.call('get', KEYS[1]) == ARGV[1] and KEYS[2] then return redis.call('del', KEYS[1]) end return 0":         func(s *shape) { s.keys = 1 },
		"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) end":      func(s *shape) { s.bySet = false },
		"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2], 'GT') end return ''": func(s *shape) { s.kept = s.yes },
	} {
		sh, ok := recognise(text)
		if !ok || server.check(t, text, sh, scriptCases(sh)) != "" {
			t.Errorf("%s: the right shape is not right: %v %+v", text, ok, sh)
		}
		if wrong(&sh); server.check(t, text, sh, scriptCases(sh)) == "" {
			t.Errorf("%s: %+v is not found to be wrong", text, sh)
		}
	}
}
