package integration

import "testing"

// What a script says of a master is the script's own word: only what a master itself says
// of a command is about that.
func TestScriptThatSaysThatItsMasterIsInTroubleIsBelievedByNobody(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for _, code := range []string{"READONLY", "MISCONF", "NOREPLICAS", "LOADING", "NOAUTH", "MASTERDOWN", "MOVED", "NOSCRIPT", "OOM", "BUSY"} {
		for range 6 {
			c.want(Failure(code+" secret"), "EVAL", "return redis.error_reply(ARGV[1] .. ' secret')", "1", "k", code)
			c.want("1", "EVAL", "redis.call('set', KEYS[1], '1') local ok, e = pcall(error, {err = ARGV[1]}) return redis.call('get', KEYS[1])", "1", "k", code)
		}
	}
	c.want("OK", "SET", "lock", "t", "NX", "PX", milliseconds(ttl))
	awaitVoting(t, p, 3)
	if err := logged(p, "secret"); err == nil {
		t.Error("what a script says is in the log")
	}
	if err := logged(p, "master is down"); err == nil {
		t.Error("a script had a master taken for one that is down")
	}
}
