package quorum

import (
	"crypto/sha1"
	"encoding/hex"
)

// script is one of our own scripts as the masters know it: loaded at each
// gate, run by its hash.
type script struct{ text, sha string }

func newScript(text string) *script {
	sum := sha1.Sum([]byte(text))
	return &script{text, hex.EncodeToString(sum[:])}
}

// eval is a call of the script with its text, for what is seldom run.
func (s *script) eval(key string, args ...string) []string {
	return append([]string{"EVAL", s.text, "1", key}, args...)
}

// What the scripts answer where they do not answer a remaining ttl. The latter
// is what PTTL says: milliseconds, or -1 for a key without expiry.
const (
	saysNoTTL  = -1
	saysAbsent = -2
	saysOther  = -3
)

// What is taken back is told by its value and expiry, and so is what a catch-up has
// given a master, where clients lock with a constant:
//
//	1: A holds k as "1" with the votes of masters 1 and 3; 3 loses its keys
//	2: C asks for k as "1"; 3 grants it, which counts for nothing, and 1 refuses
//	3: 3 is given k as "1" by 1, which is there already; then C's is taken back
//	4: 3 votes again; B is granted k by 2 and 3
//
// So whatever takes something back names the nonce under which the master had done it,
// and does nothing where copies may have been given since.
//
// sameNonce makes same(n): whether the marker KEYS[2] has the nonce n, or has replaced
// one that had it and no catch-up, of which KEYS[3] is the lease, has begun since. It is
// always so if n is empty: a master that is the only one has no marker.
const sameNonce = `local function same(n)
if n=='' then return true end
local m=redis.call('GET',KEYS[2]) or ''
return string.sub(m,1,17)==n or
redis.call('EXISTS',KEYS[3])==0 and string.find(m,'"was":"'..n..'"',1,true)
end
`

// takesBack begins a call of a script that takes something back.
func (s *script) takesBack(b []string, key string) []string {
	return append(b, "EVALSHA", s.sha, "3", key, MarkerKey, catchUpLease)
}

// All scripts are run with one key, and those that take something back with two of
// ours besides. They are short, because a master does nothing else meanwhile.
var (
	// releaseScript deletes the key if it holds ARGV[1], and answers what was
	// left of its ttl: a debt to a master that could not be reached needs it.
	releaseScript = newScript(`local v=redis.call('GET',KEYS[1])
if v==ARGV[1] then local p=redis.call('PTTL',KEYS[1]) redis.call('DEL',KEYS[1]) return p end
if v then return -3 end
return -2`)

	// extendScript sets the expiry of the key to ARGV[2] milliseconds, or takes
	// it away if that is empty, if the key holds ARGV[1]; then it answers 1.
	extendScript = newScript(`local v=redis.call('GET',KEYS[1])
if v==ARGV[1] then
if ARGV[2]=='' then redis.call('PERSIST',KEYS[1]) else redis.call('PEXPIRE',KEYS[1],ARGV[2]) end
return 1 end
if v then return -3 end
return -2`)

	// readScript answers type, value (of a string) and remaining ttl.
	readScript = newScript(`local t=redis.call('TYPE',KEYS[1]).ok
if t=='none' then return {t} end
local v=''
if t=='string' then v=redis.call('GET',KEYS[1]) end
return {t,v,redis.call('PTTL',KEYS[1])}`)

	// removeScript deletes the key whatever it holds, and answers what that was.
	removeScript = newScript(`local t=redis.call('TYPE',KEYS[1]).ok
if t=='none' then return {t} end
local v=''
if t=='string' then v=redis.call('GET',KEYS[1]) end
local p=redis.call('PTTL',KEYS[1])
redis.call('DEL',KEYS[1])
return {t,v,p}`)

	// takeBackScript deletes the key if it holds ARGV[1] and ends no later than
	// in ARGV[2] milliseconds, or has no expiry and ARGV[3] is 1. Whatever
	// lives longer is somebody else's. It answers how many keys it deleted, or -1
	// where the nonce ARGV[4] is not that of the master any more.
	takeBackScript = newScript(sameNonce + `if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end
if not same(ARGV[4]) then return -1 end
local p=redis.call('PTTL',KEYS[1])
if p<0 then
if ARGV[3]~='1' then return 0 end
elseif p>tonumber(ARGV[2]) then return 0 end
return redis.call('DEL',KEYS[1])`)

	// writeScript carries out the command ARGV, and answers the type and value
	// of its reply and what the key was before: its dump and remaining ttl, -2
	// if it was absent, or -3 if the master cannot dump it.
	writeScript = newScript(`local k=KEYS[1]
local d=redis.pcall('DUMP',k)
local p=-2
if type(d)=='table' then d,p=false,-3
elseif d then p=redis.call('PTTL',k) end
local r=redis.pcall(unpack(ARGV))
local t,v='$',r
if type(r)=='number' then t=':'
elseif type(r)=='table' then if r.err then t,v='-',r.err else t,v='+',r.ok end
elseif not r then t,v='_','' end
return {t,v,d or '',p}`)

	// latchScript ends the step ARGV[1] on a key: it lets go of it (let-go); or makes
	// of the key what it was (take-back) or should be (bring-up), which is the dump
	// ARGV[4] with ARGV[5] milliseconds to live (0: no expiry), or nothing, where it
	// is still as the step left it (its dump, or the SHA-1 of that, is ARGV[3]) under
	// the nonce ARGV[6]. A key that is to be brought up need not be latched, but by
	// nobody else. It answers 1 if it did so, and 2 more if the latch has kept somebody
	// out.
	latchScript = newScript(sameNonce + `local k=KEYS[1]
local l='` + latchKeys + `'..k
local h=redis.call('GET',l)
local mine=h==ARGV[1] or h==ARGV[1]..'!'
if not mine and (h or ARGV[2]~='bring-up') then return 0 end
local r=1
if ARGV[2]~='let-go' then
local d=redis.call('DUMP',k) or ''
if d~=ARGV[3] and redis.sha1hex(d)~=ARGV[3] or not same(ARGV[6]) then r=0
elseif ARGV[4]=='' then redis.call('DEL',k)
else
local a=redis.pcall('RESTORE',k,ARGV[5],ARGV[4],'REPLACE')
if a.err then r=0 end
end end
if mine then redis.call('DEL',l) if h~=ARGV[1] then r=r+2 end end
return r`)

	// putBackScript makes of the key what it was before a write: the dump
	// ARGV[2] with ARGV[3] milliseconds to live (0: no expiry), or nothing, if
	// that is empty. It acts only where the key is still what the write made of
	// it (its dump, or the dump's SHA-1, or its value is ARGV[1]), and ends no
	// later than in ARGV[4] milliseconds, or has no expiry and ARGV[5] is 1.
	// ARGV[6] is the key's database, if it is not this connection's. It answers 1 if it
	// did so, and -1 where the nonce ARGV[7] is not that of the master any more.
	putBackScript = newScript(sameNonce + `local k=KEYS[1]
if not same(ARGV[7]) then return -1 end
if ARGV[6]~='' then redis.call('SELECT',ARGV[6]) end
local d=redis.call('DUMP',k)
if not d then return 0 end
if d~=ARGV[1] and redis.pcall('GET',k)~=ARGV[1] and redis.sha1hex(d)~=ARGV[1] then return 0 end
local p=redis.call('PTTL',k)
if p<0 then
if ARGV[5]~='1' then return 0 end
elseif p>tonumber(ARGV[4]) then return 0 end
redis.call('DEL',k)
if ARGV[2]~='' then redis.call('RESTORE',k,ARGV[3],ARGV[2]) end
return 1`)
)

var scripts = []*script{releaseScript, extendScript, readScript, removeScript, takeBackScript, writeScript, putBackScript, latchScript}
