package engine

import "redlock-proxy/quorum/master"

// Scripts that write a marker act only where it still is what was read: of two
// proxies that find the same loss, one writes.
var (
	// lossScript replaces the markers of all databases by what follows ARGV[4], the text
	// for database 0 first, if that of this database, ARGV[2], begins with ARGV[1]. Of the
	// others it leaves alone what is of another installation than ARGV[3] says, or is
	// part of a change of the set, or holds ARGV[4], unless that is empty. Each is told
	// which nonce it replaces. It answers what stands in this database then.
	lossScript = master.NewScript(`local own=tonumber(ARGV[2])
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
if d==own then said=t end end end
return said`)

	// flushScript carries out ARGV[2] and what follows, which empties the
	// database ARGV[1], or all of them, and leaves the markers where they are: a
	// client that frees all locks is no master that forgot them.
	flushScript = master.NewScript(datedText + `local first,last=tonumber(ARGV[1]),tonumber(ARGV[1])
if string.upper(ARGV[2])=='FLUSHALL' then first,last=0,15 end
local kept={}
for d=first,last do
local s=redis.pcall('SELECT',d)
if type(s)=='table' and s.err then break end
local m=redis.pcall('GET',KEYS[1])
if type(m)=='string' then kept[d]=m end end
redis.call('SELECT',ARGV[1])
table.remove(ARGV,1)
local r=redis.call(unpack(ARGV))
for d,m in pairs(kept) do redis.call('SELECT',d) redis.call('SET',KEYS[1],m) end
return r`)
)
