// Redis's own documentation releases a lock by the first; the second is its twin.
'use strict'

module.exports = {
  RELEASE: `
if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0
end`,
  EXTEND: `
if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("pexpire",KEYS[1],ARGV[2])
else
    return 0
end`,
}
