package master

// MarkScript replaces the marker by ARGV[2] if it begins with ARGV[1] ("":
// if there is none). It answers what is there then. So of two proxies that find the same
// loss, one writes.
var MarkScript = NewScript(`local m=redis.call('GET',KEYS[1]) or ''
if ARGV[1]=='' and m=='' or ARGV[1]~='' and string.sub(m,1,#ARGV[1])==ARGV[1] then redis.call('SET',KEYS[1],ARGV[2]) return ARGV[2] end
return m`)
