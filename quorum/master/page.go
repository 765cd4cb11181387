package master

// PageBytes is how long the names of one page of a SCAN are together, about.
const PageBytes = 1 << 20

// A page of a SCAN is bounded in bytes as well as in keys: names may be long, and of a page
// that there is no room for nothing could be read, whoever asks for it. So the master makes
// it of small steps, and ends it behind the one with which it is long enough.

// PageScript is SCAN with the cursor ARGV[2], COUNT ARGV[3] and the options that follow, but
// for what is behind the step with which the names have come to ARGV[1] bytes.
var PageScript = NewScript(`local c,n,most,keys,bytes=ARGV[2],tonumber(ARGV[3]),tonumber(ARGV[1]),{},0
repeat
local r=redis.pcall('SCAN',c,'COUNT',math.min(n,10),unpack(ARGV,4))
if r.err then return r end
for _,k in ipairs(r[2]) do keys[#keys+1]=k bytes=bytes+#k end
c,n=r[1],n-10
until c=='0' or n<=0 or bytes>=most
return {c,keys}`)
