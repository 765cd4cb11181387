package master

import "redlock-proxy/quorum"

// Scripts that write a marker act only where it still is what was read: of two
// proxies that find the same loss, one writes. Those of a first start act in all databases, and
// find out for themselves what is there.
var (
	// MarkScript replaces the marker by ARGV[2] if it begins with ARGV[1] ("":
	// if there is none). It answers what is there then.
	MarkScript = NewScript(`local m=redis.call('GET',KEYS[1]) or ''
if ARGV[1]=='' and m=='' or ARGV[1]~='' and string.sub(m,1,#ARGV[1])==ARGV[1] then redis.call('SET',KEYS[1],ARGV[2]) return ARGV[2] end
return m`)

	// LossScript replaces the markers of all databases by what follows ARGV[4], the text
	// for database 0 first, if that of this database, ARGV[2], begins with ARGV[1]. Of the
	// others it leaves alone what is of another installation than ARGV[3] says, or is
	// part of a change of the set, or holds ARGV[4], unless that is empty. Each is told
	// which nonce it replaces. Where it replaces one, it drops quorum.StepsKey: what that tells is of
	// before the loss, and by a clock that may have jumped. It answers what stands in this database then.
	LossScript = NewScript(`local own=tonumber(ARGV[2])
local m=redis.call('GET',KEYS[1]) or ''
if string.sub(m,1,17)~=ARGV[1] then return m end
local said
for d=0,#ARGV-5 do
local s=redis.pcall('SELECT',d)
if s.err then
if string.find(s.err,'DB index',1,true) then break end
return s end
m=redis.pcall('GET',KEYS[1]) or ''
local function has(t) return string.find(m,t,1,true) end
if d==own or m=='' or type(m)=='string' and has(ARGV[3]) and not has('"changing":true')
and (ARGV[4]=='' or not has(ARGV[4])) then
local t=string.gsub(ARGV[5+d],'"was":"@"',function() return '"was":"'..string.sub(m,1,17)..'"' end)
redis.call('SET',KEYS[1],t)
redis.pcall('DEL','` + quorum.StepsKey + `')
if d==own then said=t end end end
return said`)

	// FirstScript writes the marker ARGV[d+1] into each database d, if there is no marker
	// and no key in any, but for quorum.StepsKey. It answers how many databases there are; or an array of a
	// database in which there is something, and its marker, "" if that is a key.
	FirstScript = NewScript(`local n,key=0,false
while n<4096 do
local s=redis.pcall('SELECT',n)
if type(s)=='table' and s.err then
if n==0 or not string.find(s.err,'DB index',1,true) then return s end
break end
local m=redis.pcall('GET',KEYS[1])
if type(m)=='string' then return {n,m} end
if not key and redis.call('DBSIZE')>(redis.pcall('EXISTS','` + quorum.StepsKey + `')==1 and 1 or 0) then key=n end
n=n+1 end
if key then return {key,''} end
for d=1,math.min(n,#ARGV) do redis.call('SELECT',d-1) redis.call('SET',KEYS[1],ARGV[d]) end
return n`)

	// sinceFirst begins a script about the first markers that were written in one step,
	// which is named ARGV[2]: it makes each(f), which calls f(d) in each database d where
	// such a one still is. One that was gone since and is written anew names that step, too,
	// but is no first one, as others vote by then. If the marker at hand has not the nonce
	// ARGV[1], the script does nothing and answers 0.
	sinceFirst = `if string.sub(redis.call('GET',KEYS[1]) or '',1,17)~=ARGV[1] then return 0 end
local function each(f)
for d=0,15 do
local s=redis.pcall('SELECT',d)
if type(s)=='table' and s.err then break end
local m=redis.pcall('GET',KEYS[1])
if type(m)=='string' and string.sub(m,1,1)=='q' and string.find(m,'"loss":"'..ARGV[2]..'"',1,true) and string.find(m,'"first":true',1,true) then f(d) end end end
`
	// AdmitFirstScript replaces them by the markers ARGV[d+3].
	AdmitFirstScript = NewScript(sinceFirst + `each(function(d) redis.call('SET',KEYS[1],ARGV[d+3]) end)
return 1`)

	// WithdrawFirstScript deletes them.
	WithdrawFirstScript = NewScript(sinceFirst + `each(function() redis.call('DEL',KEYS[1]) end)
return 1`)
)
