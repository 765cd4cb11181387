package engine

import (
	"strconv"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/master"
)

// A survey is put to each master as it is, and what they say is told of each. One that empties
// databases is a script.

var surveyKind = kind{everyKey: true}

func (o *op) surveyArgv(b []string) []string {
	switch {
	case o.Scans():
		return scanning(&o.Request, b)
	case o.Flushes():
		return append(append(b, flushScript.Eval(quorum.MarkerKey, strconv.Itoa(o.DB))...), o.Args...)
	}
	return append(b, o.Args...)
}

// flushScript carries out ARGV[2] and what follows, which empties the
// database ARGV[1], or all of them, and leaves the markers where they are: a
// client that frees all locks is no master that forgot them.
var flushScript = master.NewScript(journal.DatedText + `local first,last=tonumber(ARGV[1]),tonumber(ARGV[1])
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
