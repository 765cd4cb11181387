package recognise

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func TestRecognisedScriptsDoWhatTheirShapeSays(t *testing.T) {
	server := newRedisServer(t)
	for _, s := range lockScripts(t) {
		if !s.known {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			sh, ok := Script(s.text)
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
	server := newRedisServer(t)
	const extend = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
	right, ok := Script(extend)
	if !ok || server.check(t, extend, right, scriptCases(right)) != "" {
		t.Fatal("the right shape is not right")
	}
	for name, wrong := range map[string]func(*Shape){
		"Class": func(s *Shape) {
			*s = Shape{Class: quorum.Release, Keys: 1, Args: 1, Key: 1, Token: 1, Yes: s.Yes, Other: s.Other, Absent: s.Absent}
		},
		"Key":       func(s *Shape) { s.Key, s.Keys = 2, 2 },
		"Token":     func(s *Shape) { s.Token, s.Args = 3, 3 },
		"Unit":      func(s *Shape) { s.Unit = time.Second },
		"Absolute":  func(s *Shape) { s.Absolute = true },
		"NeedsTTL":  func(s *Shape) { s.NeedsTTL = true },
		"OrPersist": func(s *Shape) { s.OrPersist = true },
		"Greater":   func(s *Shape) { s.Greater = true },
		"Additive":  func(s *Shape) { s.Additive, s.Args = 3, 3 },
		"Yes":       func(s *Shape) { s.Yes = status("OK") },
		"Other":     func(s *Shape) { s.Other = null },
		"Absent":    func(s *Shape) { s.Absent = integer(-1) },
	} {
		sh := right
		wrong(&sh)
		if server.check(t, extend, sh, scriptCases(sh)) == "" {
			t.Errorf("a wrong %s is not found", name)
		}
	}
	for text, wrong := range map[string]func(*Shape){
		"if redis.call('get', KEYS[1]) == ARGV[1] and ARGV[2] then return redis.call('del', KEYS[1]) end return 0":         func(s *Shape) { s.Args = 1 },
		"if redis.call('get', KEYS[1]) == ARGV[1] and KEYS[2] then return redis.call('del', KEYS[1]) end return 0":         func(s *Shape) { s.Keys = 1 },
		"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) end":      func(s *Shape) { s.BySet = false },
		"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2], 'GT') end return ''": func(s *Shape) { s.Kept = s.Yes },
	} {
		sh, ok := Script(text)
		if !ok || server.check(t, text, sh, scriptCases(sh)) != "" {
			t.Errorf("%s: the right shape is not right: %v %+v", text, ok, sh)
		}
		if wrong(&sh); server.check(t, text, sh, scriptCases(sh)) == "" {
			t.Errorf("%s: %+v is not found to be wrong", text, sh)
		}
	}
}
