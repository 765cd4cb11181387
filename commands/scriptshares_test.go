package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

// What libraries' scripts write for many clients at once is a step; those of locks that one alone has are none.
func TestScriptsOfLibrariesThatAreSteps(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.lua")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	var steps []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if sc := newScript(string(text), quorum.DefaultBounds); sc.journaled != nil && sc.journaled.Latches {
			steps = append(steps, strings.TrimSuffix(filepath.Base(name), ".lua"))
		}
	}
	if want := strings.Fields(`python-redis-lock-reset python-redis-lock-unlock redisson-fairTryLock redisson-fairUnlock redisson-readRenew
		redisson-readTryLock redisson-readUnlock redisson-writeTryLock redisson-writeUnlock symfony-delete symfony-save walrus-lock_release`); !slices.Equal(steps, want) {
		t.Errorf("steps are %q", steps)
	}
}

func TestScriptThatWritesWhatManyShareIsAStep(t *testing.T) {
	for body, want := range map[string]bool{
		"return redis.call('INCRBY', KEYS[1], ARGV[1])":                           true,
		"redis.pcall('decr', KEYS[1])":                                            true,
		"return redis.call('rpush', KEYS[1], 1)":                                  true,
		"return redis.call('lrange', KEYS[1], 0, -1)":                             false,
		"local key = KEYS[1] return redis.call('zadd', key, ARGV[1], ARGV[2])":    true,
		"return redis.call('srem', KEYS[1], ARGV[1])":                             true,
		"return redis.call('hset', KEYS[1], 'mode', 'read')":                      true,
		"return redis.call('hincrby', KEYS[1], ARGV[2], 1)":                       false,
		"return redis.call('hget', KEYS[1], 'mode')":                              false,
		"return redis.call('set', KEYS[1] .. ':1', 1)":                            true,
		"return redis.call('del', string.format('%s:%d', KEYS[1], (1)), KEYS[2])": false, // which may be hidden so
		"return redis.call('set', '{k}:x', ARGV[1])":                              true,
		"return redis.call('get', KEYS[1] .. ':1')":                               false,
		"return redis.call('set', KEYS[1], ARGV[1] .. 'x', 'NX', 'PX', ARGV[2])":  false,
		"return redis.call(ARGV[1], KEYS[1])":                                     false,
		"local c = redis.call return c('incr', KEYS[1])":                          true,
		"local c = redis.call return c('hincrby', KEYS[1], ARGV[1], 1)":           false,
	} {
		s := newScript(body, quorum.DefaultBounds).journaled
		called := callsOf(body)
		if got := called.shares(); got != want || s.Latches != want || s.Exact != want || s.Confined().Latches != want || s.ReadOnly().Latches {
			t.Errorf("%s: it is a step: %t", body, got)
		}
	}
}
