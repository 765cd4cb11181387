package quorum

import (
	"fmt"
	"strconv"
)

// lockScript takes a lock, or takes it once more, as a lock library's own script does.
var lockScript = NewScript(`local v = redis.call('GET', KEYS[1])
if v and v ~= ARGV[1] then return false end
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`)

// lock is what the journal makes of lockScript on a fake master.
func (m *fakeMaster) lock(name, token, ttl string) string {
	if k, held := m.key(name); held && k.value != token {
		return array(integer(0), integer(-1), bulk("_"), integer(0))
	}
	before, left := m.dump(name)
	n, _ := strconv.ParseInt(ttl, 10, 64)
	m.expire(name, fakeKey{value: token}, fmt.Sprint(n+n/100+2))
	after, expires := m.dump(name)
	return array(integer(scriptWrote), integer(-1), bulk("+"), integer(1),
		bulk(name), bulk(before), integer(left), bulk(after), integer(expires), bulk(""), bulk("OK"))
}

// lockOf asks for a lock by lockScript.
func lockOf(key, token string, ttl int64) Request {
	return Request{Kind: Run, Script: lockScript, Key: key, Keys: []string{key}, Args: []string{token, fmt.Sprint(ttl)}}
}
