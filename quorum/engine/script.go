package engine

import (
	"strconv"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/master"
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
// farFrom is from where a ttl is none to who takes something back.
var farFrom = strconv.FormatInt(clock.FarFrom, 10)

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

// endsWithin makes ends(k, least, most, eternal): whether a key ends between two times of
// the master's clock, in milliseconds, or has no expiry and eternal is 1. The master may
// stop for a moment in between, so the clock is read before and behind.
var endsWithin = `local function ends(k,least,most,eternal)
local function now() local t=redis.call('TIME') return t[1]*1000+t[2]/1000 end
local a=now()
local p=redis.call('PTTL',k)
if p<0 or p>` + farFrom + ` then return eternal=='1' end
return a+p>=tonumber(least) and now()+p<=tonumber(most)
end
`

// leftSince makes left(k,n,moved,ended): how long what is put back is to live, in milliseconds:
// n, or as much less than the key does as its expiry was moved by, or until ended by the
// master's clock.
const leftSince = `local function left(k,n,moved,ended)
if moved~='' then return redis.call('PTTL',k)-moved end
if ended~='' then local t=redis.call('TIME') return ended-t[1]*1000-math.floor(t[2]/1000) end
return n
end
`

// restores makes restore(k,n,d): RESTORE in the place of what is there, which stays where the
// master refuses, as one does that cannot read another version's dump. One whose memory is full
// refuses only what a script writes first.
const restores = `local function restore(k,n,d)
local a=redis.pcall('RESTORE',k,n,d,'REPLACE')
if a.err and string.find(a.err,'OOM',1,true) then
local was,p=redis.call('DUMP',k),redis.call('PTTL',k)
redis.call('DEL',k)
a=redis.pcall('RESTORE',k,n,d)
if a.err and was then redis.call('RESTORE',k,p<0 and 0 or math.max(p,1),was) end
end
return a
end
`

// wonText makes won(steps,k,trail), which has a key have that trail in quorum.StepsKey, if that knows of it: behind the trail there
// is a checksum of 8 bytes, or none, and 29 bytes more.
const wonText = `local function won(steps,k,trail)
local f=__field(k)
local t=redis.pcall('HGET',steps,f)
if type(t)=='string' then redis.pcall('HSET',steps,f,trail..string.sub(t,-29-(#t-29)%9)) end
end
`

// movesExpiry makes moved(n,p): the ttl to give a key that has p and is to have n, both
// in milliseconds. An expiry is moved by more than a span is wide (see clock/span.go), or not
// at all, so that what was extended is told from what was not:
//
//	1: proxy P hears late that k was granted at 12:00:00.000 for 30 s, and is lost
//	2: A, who has asked another proxy under the same token, extends for 30 s: by 10 ms
//
// Where the expiry was moved further than that a moment ago, it is left: who extends a
// thousand times a second would otherwise come back to where it was, or get ever further.
var movesExpiry = `local function moved(n,p)
local d=n-p
if p<0 or p>` + farFrom + ` or d>50 or d<-101 then return n end
if d<-50 then return p end
return p+51
end
`

// takingBack begins a call of a script that takes something back.
func takingBack(b []string, s *master.Script, key string) []string {
	return s.Call(b, key, quorum.MarkerKey, catchup.LeaseKey)
}

// What the scripts that write do before they carry out a command, and what they make of
// its reply r. What a key is, is told so that it can be put back: that of a big one would
// cost the master, and us, more than a lock is worth.
const (
	writeBefore = quorum.ChangedText + `local k=KEYS[1]
local z=redis.pcall('MEMORY','USAGE',k)
if type(z)~='number' then z=0 end
if z>256 and z<=2097152 then z=redis.pcall('MEMORY','USAGE',k,'SAMPLES','0') end
if z>2097152 then
local n=redis.pcall('STRLEN',k)
if type(n)=='number' then z=n
else for _,c in ipairs{'ZCARD','HLEN','SCARD','LLEN'} do
n=redis.pcall(c,k)
if type(n)=='number' and n<=32768 then z=redis.pcall('MEMORY','USAGE',k,'SAMPLES','0') end
end end end
z=z>2097152
local d=not z and redis.pcall('DUMP',k)
if z or d and #d>8192 then
if z or #d>2097152 then return {'-','ERR the key takes more than 2 MiB, and can only be read and deleted','',-2,-2} end
end
local p=-2
if type(d)=='table' then d,p=false,-3
elseif d then p=redis.call('PTTL',k) end
`
	writeAfter = `__changed(k)
local t,v='$',r
if type(r)=='number' then t=':'
elseif type(r)=='table' then if r.err then t,v='-',r.err else t,v='+',r.ok end
elseif not r then t,v='_','' end
return {t,v,d or '',p,redis.call('PTTL',k)}`
)

// All scripts are run with one key, and those that take something back with two of
// ours besides. They are short, because a master does nothing else meanwhile.
var (
	// releaseScript deletes the key if it holds ARGV[1], and answers what was
	// left of its ttl: a debt to a master that could not be reached needs it.
	releaseScript = master.NewScript(`local call,k,p=redis.call,KEYS[1],-2
local v=call('GET',k)
if v==ARGV[1] then p=call('PTTL',k) call('DEL',k) elseif v then p=-3 end
` + quorum.DropText + `return p`)

	// acquireScript is SET NX GET PX for masters before 7.0, which do not take NX with
	// GET, and answers as that does.
	acquireScript = master.NewScript(`if redis.call('SET',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then return false end
return redis.pcall('GET',KEYS[1])`)

	// extendScript sets the expiry of the key to ARGV[2] milliseconds, or takes
	// it away if that is empty, if the key holds ARGV[1]; then it answers 1.
	extendScript = master.NewScript(movesExpiry + `local v=redis.call('GET',KEYS[1])
if v==ARGV[1] then
if ARGV[2]=='' then redis.call('PERSIST',KEYS[1])
else redis.call('PEXPIRE',KEYS[1],moved(ARGV[2],redis.call('PTTL',KEYS[1]))) end
return 1 end
if v then return -3 end
return -2`)

	// readScript answers type, value (of a string) and remaining ttl.
	readScript = master.NewScript(`local t=redis.call('TYPE',KEYS[1]).ok
if t=='none' then return {t} end
local v=''
if t=='string' then v=redis.call('GET',KEYS[1]) end
return {t,v,redis.call('PTTL',KEYS[1])}`)

	// removeScript deletes the key whatever it holds, and answers what that was. What holds
	// a million members is best freed by a thread of the master's that nobody waits for.
	removeScript = master.NewScript(journal.DatedText + quorum.ChangedText + `local t=redis.call('TYPE',KEYS[1]).ok
__changed(KEYS[1])
if t=='none' then return {t} end
local v=''
if t=='string' then v=redis.call('GET',KEYS[1]) end
local p=redis.call('PTTL',KEYS[1])
if t=='string' or type(redis.pcall('UNLINK',KEYS[1]))=='table' then redis.call('DEL',KEYS[1]) end
return {t,v,p}`)

	// takeBackScript deletes the key if it holds ARGV[1] and ends between the times
	// ARGV[2] and ARGV[3] of the master's clock, or has no expiry and ARGV[4] is 1.
	// Whatever ends at another time is somebody else's. It answers how many keys it
	// deleted, or -1 where the nonce ARGV[5] is not that of the master any more, and -3
	// where the value is there and ends at another time.
	takeBackScript = master.NewScript(quorum.ChangedText + sameNonce + endsWithin + `if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end
if not same(ARGV[5]) then return -1 end
if not ends(KEYS[1],ARGV[2],ARGV[3],ARGV[4]) then return -3 end
__changed(KEYS[1])
return redis.call('DEL',KEYS[1])`)

	// writeScript carries out the command ARGV, and answers the type and value
	// of its reply, what the key was before: its dump and remaining ttl, -2
	// if it was absent, or -3 if the master cannot dump it, and its remaining ttl by now.
	writeScript = master.NewScript(journal.DatedText + movesExpiry + writeBefore + `if ARGV[1]=='PEXPIRE' and not ARGV[4] and tonumber(ARGV[3])>0 then ARGV[3]=moved(ARGV[3],redis.call('PTTL',k)) end
local r=redis.pcall(unpack(ARGV))
` + writeAfter)

	// boundWriteScript and boundExpireIfScript are those for what is bound, and answer -3
	// where they have left it.
	boundWriteScript    = master.NewScript(boundText + "if not __held then return -3 end\n" + journal.Undated(writeScript.Text))
	boundExpireIfScript = master.NewScript(boundText + "if not __held then return -3 end\n" + journal.Undated(expireIfScript.Text))

	// expireIfScript is writeScript of a PEXPIRE or PEXPIREAT with flags, for masters
	// before 7.0, which take none. No expiry counts as one that never comes.
	expireIfScript = master.NewScript(journal.DatedText + writeBefore + `local e=redis.call('PTTL',k)
local n=tonumber(ARGV[3])
if ARGV[1]=='PEXPIREAT' then local t=redis.call('TIME') n=n-t[1]*1000-math.floor(t[2]/1000) end
local r=e==-2 and 0
for i=4,#ARGV do local f=ARGV[i]
if f=='NX' and e>=0 or f=='XX' and e<0
or f=='GT' and (e<0 or n<=e) or f=='LT' and e>=0 and n>=e then r=0 end end
r=r or redis.pcall(ARGV[1],k,ARGV[3])
` + writeAfter)

	// latchScript ends the step ARGV[1] on a key, of which KEYS[4] is the latch, and KEYS[5] is StepsKey: it makes of the key
	// what it was (take-back) or should be (bring-up), where it is
	// still as the step left it. The latch stays where ARGV[3] is not empty. What the key is, and
	// what it becomes, is told by ARGV[4] to ARGV[12],
	// as it is to putBackScript by ARGV[1] to ARGV[9]. A lock is extended whether it is
	// latched or not, so its dump alone would not tell. What is no step, without ARGV[1], has latched
	// nothing, and acts where nobody has. What a step brings up, KEYS[5] must know yet: else it may
	// have been deleted though nothing was there, or be written once more. ARGV[13] is the key's trail then. Further
	// KEYS have the trails that end ARGV, as the step was won. It answers 1 if it did so, and 2 more if the latch has kept somebody out.
	latchScript = master.NewScript(quorum.FieldText + wonText + sameNonce + endsWithin + leftSince + restores + `local k=KEYS[1]
local l=KEYS[4]
local h=redis.call('GET',l)
local mine=h==ARGV[1] or h==ARGV[1]..'!'
if not mine and (h or ARGV[1]~='') then return 0 end
local r=1
local d=redis.call('DUMP',k) or ''
local n=left(k,ARGV[6],ARGV[11],ARGV[12])
if d~=ARGV[4] and redis.sha1hex(d)~=ARGV[4] or not same(ARGV[10]) then r=0
elseif not ends(k,ARGV[7],ARGV[8],ARGV[9]) then r=0
elseif ARGV[1]~='' and ARGV[2]~='take-back' and redis.pcall('HEXISTS',KEYS[5],__field(k))~=1 then r=0
elseif ARGV[5]=='' or n~=ARGV[6] and n<=0 then redis.call('DEL',k)
else
if restore(k,n,ARGV[5]).err then r=0 end
end
local f=__field(k)
local was=r==1 and redis.pcall('HGET',KEYS[5],f)
if type(was)=='string' then
local p,t,e=redis.call('PTTL',k),redis.call('TIME'),string.sub(redis.call('DUMP',k) or '',-8)
redis.pcall('HSET',KEYS[5],f,((e=='')==(ARGV[5]=='') and ARGV[13] or '')..e..string.sub(was,-29,-15)..string.format('%014.0f',p>=0 and t[1]*1000+math.floor(t[2]/1000)+p or 0))
end
for i=6,mine and #KEYS or 0 do won(KEYS[5],KEYS[i],ARGV[#ARGV-#KEYS+i]) end
if mine and ARGV[3]=='' then redis.call('DEL',l) if h~=ARGV[1] then r=r+2 end end
return r`)

	// letGoScript ends steps of which the keys stay as they are. KEYS[1] is StepsKey; the latches follow, behind each the keys that
	// are won, and in ARGV of each step who it is, of how many keys that is, and their trails. It answers of each what latchScript does:
	// who has made something else of a latch keeps no other.
	letGoScript = master.NewScript(quorum.FieldText + wonText + `local all,k,a={},2,1
while KEYS[k] do
local l,me,n=KEYS[k],ARGV[a],tonumber(ARGV[a+1])
local h,r=redis.pcall('GET',l),0
if type(h)=='table' and string.sub(h.err,1,9)~='WRONGTYPE' then return h end
if h==me or h==me..'!' then
for i=1,n do won(KEYS[1],KEYS[k+i],ARGV[a+1+i]) end
redis.call('DEL',l)
r=h==me and 1 or 3
end
all[#all+1]=r
k,a=k+1+n,a+2+n
end
return all`)

	// putBackScript makes of the key what it was before a write: the dump
	// ARGV[2] with ARGV[3] milliseconds to live (0: no expiry), or nothing, if
	// that is empty. It acts only where the key is still what the write made of
	// it (its dump, or the dump's SHA-1, or its value is ARGV[1]), and ends between
	// the times ARGV[4] and ARGV[5] of the master's clock, or has no expiry and
	// ARGV[6] is 1. It answers 1 if it did so, and -1 where the nonce ARGV[7] is not that
	// of the master any more. If ARGV[8] is not empty, it is by how much the write has moved
	// the expiry, which then moves back by as much, to where it was; else ARGV[9], if that is
	// not empty, is when it ended by the master's clock.
	putBackScript = master.NewScript(quorum.ChangedText + sameNonce + endsWithin + leftSince + restores + `local k=KEYS[1]
if not same(ARGV[7]) then return -1 end
local d=redis.call('DUMP',k)
if not d then return 0 end
if d~=ARGV[1] and redis.pcall('GET',k)~=ARGV[1] and redis.sha1hex(d)~=ARGV[1] then return 0 end
if not ends(k,ARGV[4],ARGV[5],ARGV[6]) then return 0 end
__changed(k)
local n=left(k,ARGV[3],ARGV[8],ARGV[9])
if ARGV[2]=='' or n~=ARGV[3] and n<=0 then redis.call('DEL',k) return 1 end
local a=restore(k,n,ARGV[2])
if a.err then return a end
return 1`)
)

var scripts = []*master.Script{acquireScript, releaseScript, extendScript, readScript, removeScript, takeBackScript, writeScript, expireIfScript, putBackScript, latchScript, letGoScript, boundWriteScript, boundExpireIfScript, master.PageScript}

// scanning appends the command that a master gets for a page of a SCAN.
func scanning(r *quorum.Request, b []string) []string {
	b = append(b, "EVALSHA", master.PageScript.SHA, "0", strconv.Itoa(master.PageBytes), r.Args[1], r.Args[3])
	return append(b, r.Args[4:]...)
}
