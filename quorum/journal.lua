-- The prelude of every journaled script. It hides Redis from the script behind
-- a shadow of itself, which
--   * keeps an undo record of each key at its first write,
--   * lets only commands through that a lock script needs, on declared keys,
--   * answers TIME with the clock that all masters are given,
--   * pads expiries by the drift and takes it off the ttls that are read,
--   * takes PUBLISH aside.
-- It is put before the script on one line, so that the script's line numbers
-- stay what they are: comments and line ends are taken out, and no statement may
-- begin with a parenthesis.
--
-- ARGV[1] and ARGV[2] are the seconds and microseconds of TIME; the script's own
-- arguments follow. The answer is {flags, line, shape, values, undo, published},
-- see journal.go.
local redis, KEYS, ARGV, __journal, _G, getfenv, setfenv, loadstring, load = (function(R, K, A)
  local raw, upper, floor, format = R.pcall, string.upper, math.floor, string.format
  local now = A[1] * 1000 + floor(A[2] / 1000)
  local argv, declared = {}, {}
  for i = 3, #A do argv[i - 2] = A[i] end
  for i = 1, #K do declared[K[i]] = true end

  -- before[k] is what k was at its first write: its dump (false: absent) and
  -- its remaining ttl.
  local before, touched = {}, {}
  local wrote, removed = false, false
  local ttls, published = {}, {}

  local function refuse(text)
    error({refused = 'ERR ' .. text}, 0)
  end
  local function key(k)
    if not declared[k] then refuse('the script uses a key that it was not given in KEYS') end
  end
  local function record(k)
    key(k)
    if before[k] == nil then
      local d = raw('DUMP', k)
      if type(d) == 'table' then refuse('this master cannot keep an undo record: ' .. d.err) end
      before[k] = {d, d and raw('PTTL', k) or -2}
      touched[#touched + 1] = k
    end
  end
  local function whole(n) return format('%.0f', n) end
  local function pad(ms) return whole(ms + floor(ms / 100) + 2) end
  -- milliseconds is what an expiry argument comes to, padded; what is no such
  -- number is left to Redis to refuse.
  local function milliseconds(n, unit, absolute)
    n = tonumber(n)
    if not n or n ~= floor(n) then return nil end
    n = n * unit
    if absolute then
      n = n - now
      if n <= 0 then return '-1' end
    end
    if n <= 0 or n > 9e15 then return nil end
    return pad(n)
  end
  local function unpad(p)
    if p > 0 then p = math.max(p - floor(p / 100) - 2, 1) end
    return p
  end
  local function remember(n)
    if n > 0 then ttls[n] = true end
    return n
  end

  local function set(c, from)
    for i = from, #c - 1 do
      local o = upper(tostring(c[i]))
      local unit = (o == 'EX' or o == 'EXAT') and 1000 or (o == 'PX' or o == 'PXAT') and 1
      if unit then
        local ms = milliseconds(c[i + 1], unit, o == 'EXAT' or o == 'PXAT')
        if ms == '-1' then ms = '1' end
        if ms then c[i], c[i + 1] = 'PX', ms end
        return
      end
    end
  end

  -- command carries one command out and answers what Redis answers.
  local function command(c)
    local n, k = upper(tostring(c[1])), c[2] ~= nil and tostring(c[2])
    for i = 1, #c do
      if type(c[i]) == 'number' then c[i] = tostring(c[i]) end
    end
    if n == 'GET' or n == 'HEXISTS' or n == 'HGET' or n == 'TYPE' or n == 'STRLEN' or n == 'HLEN'
      or n == 'ZSCORE' or n == 'ZCARD' or n == 'ZCOUNT' or n == 'SISMEMBER' or n == 'SCARD'
      or n == 'HGETALL' or n == 'HMGET' or n == 'HKEYS' or n == 'HVALS' or n == 'GETRANGE' or n == 'SMEMBERS'
      or n == 'SMISMEMBER' or n == 'ZRANGE' or n == 'ZREVRANGE' or n == 'ZRANGEBYSCORE'
      or n == 'ZREVRANGEBYSCORE' or n == 'ZRANK' or n == 'ZREVRANK' then
      if k then key(k) end
      return raw(unpack(c))
    elseif n == 'EXISTS' or n == 'MGET' then
      for i = 2, #c do key(c[i]) end
      return raw(unpack(c))
    elseif n == 'PTTL' or n == 'TTL' then
      if not k then return raw(unpack(c)) end
      key(k)
      local p = raw('PTTL', k)
      if type(p) == 'table' then return p end
      p = unpad(p)
      if n == 'TTL' and p > 0 then p = floor((p + 500) / 1000) end
      return remember(p)
    elseif n == 'PEXPIRE' or n == 'EXPIRE' or n == 'PEXPIREAT' or n == 'EXPIREAT' then
      if #c < 3 then return raw(unpack(c)) end
      record(k)
      local at = n == 'PEXPIREAT' or n == 'EXPIREAT'
      local ms = milliseconds(c[3], (n == 'EXPIRE' or n == 'EXPIREAT') and 1000 or 1, at)
      if ms then c[1], c[3] = 'PEXPIRE', ms end
      local r = raw(unpack(c))
      if r == 1 then
        if (tonumber(c[3]) or 0) <= 0 then removed = true else wrote = true end
      end
      return r
    elseif n == 'SET' or n == 'GETEX' then
      if not k then return raw(unpack(c)) end
      record(k)
      set(c, n == 'SET' and 4 or 3)
      local r = raw(unpack(c))
      if n == 'GETEX' then
        if r and type(r) ~= 'table' and #c > 2 then wrote = true end
      elseif type(r) == 'table' and r.ok then
        wrote = true
      elseif type(r) ~= 'table' then
        -- SET ... GET does not say whether it set; the key itself does.
        if raw('DUMP', k) ~= before[k][1] or raw('PTTL', k) ~= before[k][2] then wrote = true end
      end
      return r
    elseif n == 'SETEX' or n == 'PSETEX' then
      if #c ~= 4 then return raw(unpack(c)) end
      record(k)
      local ms = milliseconds(c[3], n == 'SETEX' and 1000 or 1)
      if ms then c[1], c[3] = 'PSETEX', ms end
      local r = raw(unpack(c))
      if type(r) == 'table' and r.ok then wrote = true end
      return r
    elseif n == 'DEL' or n == 'UNLINK' then
      for i = 2, #c do record(c[i]) end
      local r = raw(unpack(c))
      if type(r) == 'number' and r > 0 then
        removed = true
      end
      return r
    elseif n == 'HDEL' or n == 'SREM' or n == 'ZREM' or n == 'ZREMRANGEBYSCORE' or n == 'ZREMRANGEBYRANK' or n == 'GETDEL' then
      if not k then return raw(unpack(c)) end
      record(k)
      local r = raw(unpack(c))
      if r and r ~= 0 and type(r) ~= 'table' then removed = true end
      return r
    elseif n == 'MSET' or n == 'MSETNX' then
      for i = 2, #c, 2 do record(c[i]) end
      local r = raw(unpack(c))
      if r == 1 or type(r) == 'table' and r.ok then wrote = true end
      return r
    elseif n == 'SETNX' or n == 'HSETNX' or n == 'SADD' or n == 'PERSIST' then
      if not k then return raw(unpack(c)) end
      record(k)
      local r = raw(unpack(c))
      if type(r) == 'number' and r > 0 then wrote = true end
      return r
    elseif n == 'HSET' or n == 'HINCRBY' or n == 'HMSET' or n == 'ZADD' or n == 'ZINCRBY' or n == 'INCR' or n == 'INCRBY'
      or n == 'DECR' or n == 'DECRBY' or n == 'GETSET' or n == 'APPEND' then
      if not k then return raw(unpack(c)) end
      record(k)
      local r = raw(unpack(c))
      if type(r) ~= 'table' or not r.err then wrote = true end
      return r
    elseif n == 'TIME' then
      return {A[1], A[2]}
    elseif n == 'PUBLISH' or n == 'SPUBLISH' then
      if #c ~= 3 then return {err = "ERR Wrong number of args calling Redis command from script"} end
      published[#published + 1] = c[2]
      published[#published + 1] = c[3]
      return 0
    elseif n == 'PING' or n == 'ECHO' then
      return raw(unpack(c))
    end
    refuse(n .. ' is not for lock scripts: this proxy runs those that use strings, hashes, sets and sorted sets')
  end

  -- raised is the error that the shadow raised last, and line where: Redis makes
  -- its text of an error that passes through pcall.
  local raised, line

  -- where is the line of the script that called the shadow.
  local function where()
    local _, at = pcall(error, '', 4)
    return tonumber(string.match(tostring(at), ':(%d+):')) or 0
  end
  local shadow = {
    error_reply = R.error_reply, status_reply = R.status_reply, sha1hex = R.sha1hex,
    log = function() end, setresp = function() end, set_repl = function() end, breakpoint = function() return false end,
    debug = function() end, replicate_commands = function() return true end,
    LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
    REPL_NONE = 0, REPL_SLAVE = 1, REPL_REPLICA = 1, REPL_AOF = 2, REPL_ALL = 3,
    REDIS_VERSION = R.REDIS_VERSION, REDIS_VERSION_NUM = R.REDIS_VERSION_NUM,
  }
  function shadow.pcall(...)
    return command({...})
  end
  function shadow.call(...)
    local r = command({...})
    if type(r) == 'table' and r.err then
      raised, line = r.err, where()
      error({err = r.err}, 0)
    end
    return r
  end

  local shape, values = {}, {}
  local function encode(v, depth)
    local t = type(v)
    if #values > 500 or depth > 7 then refuse('the reply of the script is too large') end
    if t == 'string' then
      shape[#shape + 1], values[#values + 1] = '$', v
    elseif t == 'number' then
      v = v < 0 and math.ceil(v) or floor(v)
      shape[#shape + 1], values[#values + 1] = ttls[v] and 't' or ':', whole(v)
    elseif t == 'boolean' and v then
      shape[#shape + 1], values[#values + 1] = ':', '1'
    elseif t == 'table' then
      if type(v.err) == 'string' then
        shape[#shape + 1], values[#values + 1] = '-', v.err
      elseif type(v.ok) == 'string' then
        shape[#shape + 1], values[#values + 1] = '+', v.ok
      else
        local n = 0
        while v[n + 1] ~= nil do n = n + 1 end
        shape[#shape + 1] = '*' .. n .. ';'
        for i = 1, n do encode(v[i], depth + 1) end
      end
    else
      shape[#shape + 1] = '_'
    end
  end

  local function undo()
    for i = 1, #touched do
      local k = touched[i]
      local d, p = before[k][1], before[k][2]
      if d ~= raw('DUMP', k) or p ~= raw('PTTL', k) then
        raw('DEL', k)
        if d then raw('RESTORE', k, p > 0 and whole(p) or '0', d) end
      end
    end
  end

  local function run(script)
    local ok, v = pcall(script)
    local at = -1
    if ok then
      ok, v = pcall(function() encode(v, 1) end)
    end
    if not ok then
      shape, values = {}, {}
      if type(v) == 'table' and v.refused then
        undo()
        return {4, 0, '-', {v.refused}, {}, {}}
      end
      if type(v) == 'table' then v = v.err end
      if v ~= nil and v == raised then
        at = line
      else
        v = tostring(v)
        at = tonumber(string.match(v, 'user_script:(%d+):')) or 0
        v = 'ERR ' .. v
      end
      shape, values = {'-'}, {v}
    end
    local records = {}
    if wrote or removed then
      for i = 1, #touched do
        local k = touched[i]
        local b, after = before[k], raw('DUMP', k)
        if after then
          if after and #after > 100 then after = R.sha1hex(after) end
          records[#records + 1] = {k, b[1] or '', b[2], after or '', raw('PTTL', k)}
        end
      end
    end
    return {(wrote and 1 or 0) + (removed and 2 or 0), at, table.concat(shape), values, records, published}
  end

  return shadow, K, argv, run
end)(redis, KEYS, ARGV)
return __journal(function()
