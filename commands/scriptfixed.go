package commands

// fixedScripts are those of clients that load them once when they connect and then
// count on them: they neither send them again nor fall back on EVAL where the answer
// is NOSCRIPT. They are there from the start, whoever connected to another proxy
// before, and SCRIPT FLUSH leaves them: another client's flush must not take a lock's
// release away from these.
var fixedScripts = [...]string{
	// Redis::DistLock 0.07 (Perl): release and extend. The latter takes the lock
	// whoever holds it, which is what it does on Redis.
	`
if redis.call( "get", KEYS[1] ) == ARGV[1] then
    return redis.call( "del", KEYS[1] )
else
    return 0
end
`,
	`
if redis.call( "set", KEYS[1], ARGV[1], "XX", "PX", ARGV[2] ) then
    return "OK"
else
    return redis.call( "set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2] )
end
`,
	// lyokato/redlock 1.0 (Elixir): unlock and extend.
	`if redis.call("get",KEYS[1]) == ARGV[1] then
  return redis.call("del",KEYS[1])
else
  return 0
end
`,
	`if redis.call("get",KEYS[1]) == ARGV[1] then
  return redis.call("pexpire",KEYS[1],ARGV[2],"GT")
else
  return redis.error_reply('NOT LOCKED')
end
`,
}
