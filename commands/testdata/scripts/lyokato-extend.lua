if redis.call("get",KEYS[1]) == ARGV[1] then
  return redis.call("pexpire",KEYS[1],ARGV[2],"GT")
else
  return redis.error_reply('NOT LOCKED')
end
