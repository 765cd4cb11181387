package catchup

import (
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// The scripts of a catch-up. Each that writes begins with the proof that the master
// is still the one that was meant: the same nonce in its marker, KEYS[1], which is ARGV[1]. What
// a script does and its proof are one step. Where the proof fails, nothing is done, and
// the answer is decide.SaysOtherNonce or SaysOtherLease instead of an array.
//
// They are exported for what stands for a master in tests, which knows them by their hashes.

// SaysOtherLease is the answer of scripts that write that another run has the lease.
const SaysOtherLease = -2

// LeaseKey is a key on the quarantined master that names the run which may
// write to it. A run that has lost it can do nothing more, and so what is late of
// an old one never overwrites what a newer one copied.
const LeaseKey = quorum.PrivateKeys + "catch-up}"

const (
	// ofNonce is the proof.
	ofNonce = `if string.sub(redis.call('GET',KEYS[1]) or '',1,17)~=ARGV[1] then return -1 end
`
	// ofLease says, besides, who may write: the lease KEYS[2] is that of
	// the run ARGV[2], which thereby has it for another ARGV[3] milliseconds.
	ofLease = ofNonce + `if redis.call('GET',KEYS[2])~=ARGV[2] then return -2 end
redis.call('PEXPIRE',KEYS[2],ARGV[3])
`
	// valuesFunction makes fits(i) and value(i) of KEYS[i], for i from the first to #KEYS in
	// turn. A master does nothing else while a script reads: so that is as much as takes some
	// 20 ms, or one key, which takes up to 80. What is too long to be read at all has no
	// heft[i], and to find that out is not free: toll[i] is what each takes. Of what does
	// not fit into this call any more fits(i) says so, unless it is the first.
	// value(i) is the string that the key holds, or false. Strings are most of what there is,
	// and asking for twenty short ones costs little more than for one.
	valuesFunction = `local heft,toll,at,got,upto,room,begun={},{},{},{},0,2097152,false
local function weight(k)
local n=redis.pcall('STRLEN',k)
if type(n)=='number' then
if n>16777216 then return false,0 end
return n,n end
local c=({hash='HLEN',set='SCARD',zset='ZCARD',list='LLEN'})[redis.call('TYPE',k).ok]
n=c and redis.pcall(c,k)
if type(n)~='number' then n=0 end
if n>32768 then return false,0 end
local m=redis.pcall('MEMORY','USAGE',k,'SAMPLES',c and '0' or '5')
if type(m)~='number' then m=0 end
if m>4194304 then return false,8*n end
n=m+128*n
return n,n end
local function weigh(i)
local names,sum={},0
upto=i-1
while upto<#KEYS and upto<i+19 and sum<=room do
upto=upto+1
local n,t=weight(KEYS[upto])
heft[upto],toll[upto]=n,t
sum=sum+t
if n then
if n<=4096 then names[#names+1]=KEYS[upto] at[upto]=#names end end end
got=#names>0 and redis.call('MGET',unpack(names)) or {} end
local function fits(i)
if i>upto then weigh(i) end
local n=toll[i] or 0
if begun and n>room then return false end
begun,room=true,room-n
return true end
local function value(i)
if at[i] then return got[at[i]] end
local v=heft[i] and redis.pcall('GET',KEYS[i])
return type(v)=='string' and v end
`
	// endsFunction makes ends(k): when a key ends by the master's clock, as precisely as two
	// looks at that tell.
	endsFunction = `local t=redis.call('TIME')
local now=t[1]*1000+math.floor(t[2]/1000)
local function ends(k)
local p=redis.call('PTTL',k)
if p<0 then return p end
return now+p end
`
	// digestFunction makes digest(i,v) of KEYS[i] and the string it holds, or
	// false: "?" of what is too long, else a text that tells its value from all others, but
	// for its expiry, and is the same on every master. It is "" of no key. Dumps are not: they tell how a value came
	// about. A short string is told whole, behind "string=". What has no order of
	// its own is sorted by hashes: how texts sort depends on the server's locale.
	digestFunction = `local function digest(i,v)
if not heft[i] then return '?' end
local k=KEYS[i]
if v then
if #v<=64 then return 'string='..v end
return 'string#'..redis.sha1hex(v) end
local t=redis.call('TYPE',k).ok
if t=='none' then return '' end
local e={}
if t=='hash' then
local f=redis.call('HGETALL',k)
for i=1,#f,2 do e[#e+1]=redis.sha1hex(#f[i]..':'..f[i]..f[i+1]) end
elseif t=='set' then
for i,m in ipairs(redis.call('SMEMBERS',k)) do e[i]=redis.sha1hex(m) end
elseif t=='zset' then
local z=redis.call('ZRANGE',k,0,-1,'WITHSCORES')
for i=1,#z,2 do
local s=tonumber(z[i+1])
e[#e+1]=redis.sha1hex((s and string.format('%.17g',s) or z[i+1])..':'..z[i]) end
elseif t=='list' then
for i,m in ipairs(redis.call('LRANGE',k,0,-1)) do e[i]=redis.sha1hex(m) end
else return t..'#'..redis.sha1hex(redis.call('DUMP',k) or '') end
if t~='list' then table.sort(e) end
return t..'#'..redis.sha1hex(table.concat(e)) end
`
)

// toldWhole is what a digest begins with that holds the value itself.
const toldWhole = "string="

var (
	// LeaseScript gives the run ARGV[2] the lease KEYS[2] for ARGV[3] milliseconds
	// and answers 1, unless another has it whose name does not begin with
	// ARGV[4].
	LeaseScript = master.NewScript(ofNonce + `local l=redis.call('GET',KEYS[2])
if l and string.sub(l,1,#ARGV[4])~=ARGV[4] then return -2 end
redis.call('SET',KEYS[2],ARGV[2],'PX',ARGV[3])
return 1`)

	// ReadingScript reads KEYS, as many of them as fit and ARGV[1] bytes hold,
	// but one at least. Of what is too long it answers the remaining ttl and, in an array,
	// about how long it is. Of any other it answers the remaining ttl, and then the value of a
	// short string; of what else there is its digest and what it is made of, in an
	// array: the value of a string, a dump of anything else, or nothing where the
	// master cannot dump it.
	ReadingScript = master.NewScript(valuesFunction + digestFunction + `local call,r,n,most=redis.call,{},0,tonumber(ARGV[1])
for i=1,#KEYS do
if n>most or not fits(i) then break end
local k,v=KEYS[i],value(i)
local what=v
if not heft[i] then
what,v=redis.pcall('MEMORY','USAGE',k),''
what={type(what)=='number' and what or 1}
elseif not v or #v>64 then
local d=digest(i,v)
v=v or d~='' and redis.pcall('DUMP',k) or ''
if type(v)=='table' then v='' end
what=d~='' and {d,v} or '' end
n=n+#v
r[2*i-1],r[2*i]=call('PTTL',k),what end
return r`)

	// HeldScript tells of as many of KEYS as fit whether they have the digests ARGV, in a text
	// of a letter each: = if so, # if the key has another, - if there is none.
	HeldScript = master.NewScript(valuesFunction + digestFunction + `local r={}
for i=1,#KEYS do
if not fits(i) then break end
local d=digest(i,value(i))
r[#r+1]=d==ARGV[i] and '=' or d=='' and '-' or '#' end
return {table.concat(r)}`)

	// CopyScript makes KEYS[3] and the following what the rest of ARGV says: ARGV[4]
	// is a letter for each, w if it is a string that is told whole. Then come that or
	// the digest, and the remaining ttl of each, and behind them what those are made
	// of that are not told whole. What has that value already and ends no sooner is
	// left as it is, unless that takes too long to see. It answers a text of a letter for each,
	// + if the key was copied, = if it was left, ! if that failed; and the last error.
	CopyScript = master.NewScript(quorum.ChangedText + valuesFunction + digestFunction + ofLease + `local call,pcall,byte,r,e,w=redis.call,redis.pcall,string.byte,{},'',2*#KEYS+1
for i=3,#KEYS do
local k,d,p,now=KEYS[i],ARGV[2*i-1],ARGV[2*i]
__changed(k)
local seen=fits(i) and heft[i]
if seen then now=value(i) end
local v,left,text,done=d,-2,true
if byte(ARGV[4],i-2)==119 then
if now==d then left=call('PTTL',k) end
else
v,text=ARGV[w],string.sub(d,1,6)=='string'
w=w+1
if seen and (now or not text) and digest(i,now)==d then left=call('PTTL',k) end end
if left==-1 or (p~='-1' and left>=tonumber(p)) then r[#r+1]='='
else
if not text then
if p=='-1' then p='0' end
done=pcall('RESTORE',k,p,v,'REPLACE')
elseif p=='-1' then done=pcall('SET',k,v)
else done=pcall('SET',k,v,'PX',p) end
if type(done)=='table' and done.err then e=done.err r[#r+1]='!' else r[#r+1]='+' end end end
return {table.concat(r),e}`)

	// LookScript tells of as many of KEYS as fit the digest, and when the key ends: in
	// milliseconds by the master's Unix time, or -1 if never. If ARGV[1] is 1, it tells no
	// digest of what ends.
	LookScript = master.NewScript(valuesFunction + digestFunction + endsFunction + `local r={}
for i=1,#KEYS do
local e=ends(KEYS[i])
if ARGV[1]=='1' and e~=-1 then r[2*i-1]=''
elseif fits(i) then r[2*i-1]=digest(i,value(i))
else break end
r[2*i]=e end
return r`)

	// LayScript deletes of KEYS[2] and the following what has the digests ARGV[2] and the
	// following. It answers how many these were, and how many of KEYS[2] and the following
	// it has looked at, which is as many as fit.
	LayScript = master.NewScript(quorum.ChangedText + valuesFunction + digestFunction + ofNonce + `local n,looked=0,0
for i=2,#KEYS do
if not fits(i) then break end
looked=looked+1
local d=digest(i,value(i))
if d~='' and d==ARGV[i] then __changed(KEYS[i]) n=n+redis.call('DEL',KEYS[i]) end end
return {n,looked}`)

	// ReturnScript deletes of KEYS[3] and the following those whose digests are
	// ARGV[4] and the following. It answers how many these were, and how many it has looked
	// at, which is as many as fit.
	ReturnScript = master.NewScript(quorum.ChangedText + valuesFunction + digestFunction + ofLease + `local n,looked=0,0
for i=3,#KEYS do
if not fits(i) then break end
looked=looked+1
if digest(i,value(i))==ARGV[i+1] then __changed(KEYS[i]) n=n+redis.call('DEL',KEYS[i]) end end
return {n,looked}`)
)
