--[==[ KEYS[1]: the lock
     ARGV[1]: the token ]==]
local key --[[ first ]], token = KEYS[ 1 ], ARGV[1]; -- both
if (redis.call([[Get]], key)) ~= (token) then return 0; end; --
return redis . call ( "\100el" , key ) --[[end]]