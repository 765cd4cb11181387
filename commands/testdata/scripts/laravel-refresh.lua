-- A lock without seconds is one that stays.
if redis.call("get",KEYS[1]) == ARGV[1] then
    if tonumber(ARGV[2]) > 0 then
        return redis.call("expire",KEYS[1],ARGV[2])
    else
        redis.call("persist",KEYS[1])
        return 1
    end
end
return 0
