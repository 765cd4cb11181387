if redis.call('exists', KEYS[1]) == 0 then return -1 end
if redis.call('get', KEYS[1]) == ARGV[1] then
  redis.call('del', KEYS[1])
  return redis.status_reply("OK")
else
  return {err = "LOCKED by another"}
end