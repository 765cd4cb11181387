package engine

import (
	"strconv"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// A page of a SCAN is bounded in bytes as well as in keys: names may be long, and of a page
// that there is no room for nothing could be read, whoever asks for it. So the master makes
// it of small steps, and ends it behind the one with which it is long enough.

// pageScript is SCAN with the cursor ARGV[2], COUNT ARGV[3] and the options that follow, but
// for what is behind the step with which the names have come to ARGV[1] bytes.
var pageScript = master.NewScript(`local c,n,most,keys,bytes=ARGV[2],tonumber(ARGV[3]),tonumber(ARGV[1]),{},0
repeat
local r=redis.pcall('SCAN',c,'COUNT',math.min(n,10),unpack(ARGV,4))
if r.err then return r end
for _,k in ipairs(r[2]) do keys[#keys+1]=k bytes=bytes+#k end
c,n=r[1],n-10
until c=='0' or n<=0 or bytes>=most
return {c,keys}`)

// scanning appends the command that a master gets for it.
func scanning(r *quorum.Request, b []string) []string {
	b = append(b, "EVALSHA", pageScript.SHA, "0", strconv.Itoa(pageBytes), r.Args[1], r.Args[3])
	return append(b, r.Args[4:]...)
}

// bundle is how many of the items, which are named so, one script is to be about: one at
// least.
func bundle[T any](list []T, name func(T) string) (n int) {
	for bytes := 0; n < min(len(list), pageKeys) && bytes < pageBytes; n++ {
		bytes += len(name(list[n]))
	}
	return n
}

func itself(key string) string   { return key }
func nameOfGiven(g given) string { return g.key }
func nameOfGhost(g ghost) string { return g.key }
func nameOfOrder(o order) string { return o.key }

func names[T any](list []T, name func(T) string) []string {
	all := make([]string, len(list))
	for i, item := range list {
		all[i] = name(item)
	}
	return all
}
