-- The prelude of every journaled script. The script is a function that it is given, and
-- knows Redis only through a shadow of it, which
--   * keeps an undo record of each key at its first write,
--   * lets only commands through that a lock script needs, on keys that it was given, and on
--     those that have the tag of one, before any of them is touched,
--   * answers TIME with the clock that all masters are given,
--   * pads expiries by the drift and takes it off the ttls that are read,
--   * takes PUBLISH aside.
-- It stands behind the script on one line, which no line of that is: so an error of its
-- own, or of a helper, is told from the script's, whose line numbers stay what they are.
-- Comments and line ends are taken out, and no statement may begin with a parenthesis. It
-- runs at each call, on a master that does nothing else meanwhile: so it makes few tables,
-- functions and variables that these share, most of them only when they are needed, and
-- tables as long as they will be.
--
-- A client's script is no text of the client's (see helpers.lua): what it throws, answers
-- or passes on is looked at by raw access alone, so that none of it is called.
--
-- ARGV[1] and ARGV[2] are the seconds and microseconds of TIME; the script's own
-- arguments follow. L is nil, or who a step is, how long its latches live (see latch.go), their
-- names, what is left of its keys, and the time: it latches its keys where it acts, or is to do so anyway, and tells
-- of them where it declines.
-- O tells that the script may only read, and reaches that it may use keys that it was not given,
-- if they have the tag of one that it was: those are ordered with its own. make makes the script, P is the line of the prelude,
-- and steps and memory are what a client's script may take; both nil for one of ours.
-- The answer is {flags, line, shape, n, n undo records, values, published, and of a step for how long
-- each key is calm, its trail, and what is new on that}, one flat array, since each further one takes a master more than all that is in it; see
-- journal.go.
return (function(R, K, A, L, O, reaches, make, P, steps, memory)
  local raw = R.pcall

  -- What the script may write into is its own: K says which keys it was given. Each is
  -- one table as long as it will be; unpack cannot do any length.
  local keys, argv
  if #K + #A < 256 then
    keys, argv = {unpack(K)}, {unpack(A, 3)}
  else
    keys, argv = {}, {}
    for i = 1, #K do keys[i] = K[i] end
    for i = 3, #A do argv[i - 2] = A[i] end
  end

  -- The answer is made at the first write: from its fifth element on it has a record of
  -- each key that is written to, the first half of which is known then.
  local answer

  -- Of a client's script, spend takes steps, and answers how many are left; bounding().weighed
  -- takes those for long arguments, read reads no more than it may, and got takes those for
  -- what was read; see helpers.lua. longest is how long a string may be that it reads.
  local spend, bounding
  local longest = 65536

  -- Of a script of ours, sparing refuses what would read more than it may answer; see ours.lua.
  local sparing

  -- its is what else there is to know of the script, in one table, since each variable that
  -- functions share costs a call as much as that.
  --   * wrote and removed: it did so.
  --   * recorded: where the answer has the record of a key, but for the first.
  --   * declared: the keys that it was given, if it names others than the first, and those that it
  --     was found to be allowed besides. tags: of all that it was given, or the transaction that it is
  --     part of. reached: it has used others than these.
  --   * given: the keys of the call. ttls: the remaining ttls that it was told. published: its messages.
  --   * raised: the error that the shadow raised last, and where.
  --   * troubled: what the master first said of itself instead of carrying out a command: no
  --     error of the script's own, whatever that reads like, and whatever the script makes of it.
  --   * ran: clients' scripts were run by one of ours, see scripts.lua.
  --   * refused: why the script is, whatever it makes of the error: it has no step left.
  --   * toiled: it took more steps than any for locks does. toil is what one of ours does
  --     instead: a command is one, and so is about a KiB that is dumped.
  --   * absent: a key that was not there when the script asked, and is only since it has a record.
  --   * heavy: what the recorded keys come to together that are not small.
  --   * unordered says of replies whose order is each master's own what they are made of: see
  --     readShape.
  local its = {wrote = false, removed = false, toil = 0, absent = false, given = K}

  -- What is behind this is a function for its speed. To find a variable that a function made
  -- here takes along, Lua goes through all others that any took along; one that is of the
  -- function around is at hand.
  return (function(make, keys, argv)
  local h

  -- refuse ends the script, for having no step left if nothing else is said.
  local function refuse(text, code)
    if not its.refused then
      its.refused = text and (code or 'ERR ') .. text or 'ERR the script takes more than ' .. steps .. ' steps (script-steps)'
      if spend then
        local ok, left = pcall(spend, 0)
        its.toiled = not ok or steps - left > 1000
        pcall(spend, 1 / 0)
      end
    end
    error(its.refused, 0)
  end

  -- text is a key or an argument as Redis takes it. What is neither string nor number
  -- stays, for Redis to refuse.
  local function text(v)
    return type(v) == 'number' and string.format('%.17g', v) or v
  end

  -- What few scripts need is made when one does.
  local rare
  local function seldom()
    if rare then return rare end
    rare = {
      large = 'the key takes more than 2 MiB, and can only be read and deleted',
      tooLong = 'the list has more than 20000 elements, and can only be read and deleted',
      tooMuch = 'the keys that are written to take more than 2 MiB in all, or more than 4 with what would become of them',
      tooLarge = 'the reply of the script is too large',
      reads = ' GET HEXISTS HGET TYPE ZSCORE ZCARD ZCOUNT STRLEN HLEN SISMEMBER SCARD GETRANGE HGETALL HMGET HKEYS HVALS SMEMBERS SMISMEMBER ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANK ZREVRANK EXISTS MGET PTTL TTL SELECT ECHO TIME PING LLEN LINDEX LRANGE LPOS HSTRLEN ZMSCORE TOUCH EXPIRETIME PEXPIRETIME SRANDMEMBER HSCAN SSCAN ZSCAN OBJECT MEMORY ',
      writes = ' HINCRBY HSET ZADD HMSET ZINCRBY INCR INCRBY DECR DECRBY GETSET APPEND PEXPIRE EXPIRE PEXPIREAT EXPIREAT SET GETEX DEL UNLINK HDEL SREM ZREM ZREMRANGEBYSCORE ZREMRANGEBYRANK GETDEL SETNX HSETNX SADD PERSIST SETEX PSETEX MSET MSETNX PUBLISH SPUBLISH LPUSH RPUSH LPUSHX RPUSHX LPOP RPOP LREM LSET LTRIM LINSERT LMOVE RPOPLPUSH RENAME RENAMENX COPY SPOP ZPOPMIN ZPOPMAX LMPOP ZMPOP ',
      troubles = ' LOADING READONLY NOAUTH NOPERM MASTERDOWN CLUSTERDOWN MOVED ASK OOM MISCONF NOREPLICAS BUSY UNKILLABLE ',
    }

    -- clock is the time of day in milliseconds, if the masters' clocks agree on one.
    function rare.clock()
      if A[1] == '' then refuse("no quorum of the masters' clocks agrees on the time of day", 'NOQUORUM ') end
      return A[1] * 1000 + math.floor(A[2] / 1000)
    end

    -- flagged is PEXPIRE or PEXPIREAT with flags, which masters before 7.0 do not take.
    function rare.flagged(n, k, ms, ...)
      local r = raw(n, k, ms, ...)
      if type(r) ~= 'table' or not string.find(r.err, 'rong number of arg', 1, true) then return r end
      local e, at, want = raw('PTTL', k), tonumber(ms), {}
      for i = 1, select('#', ...) do
        local o = tostring((select(i, ...)))
        if not string.find(' NX XX GT LT ', ' ' .. string.upper(o) .. ' ', 1, true) then return {err = 'ERR Unsupported option ' .. o} end
        want[string.upper(o)] = true
      end
      if want.NX and (want.XX or want.GT or want.LT) then
        return {err = 'ERR NX and XX, GT or LT options at the same time are not compatible'}
      elseif want.GT and want.LT then
        return {err = 'ERR GT and LT options at the same time are not compatible'}
      end
      if at and (n == 'EXPIRE' or n == 'EXPIREAT') then at = at * 1000 end
      if at and (n == 'PEXPIREAT' or n == 'EXPIREAT') then at = at - rare.clock() end
      if at and (e == -2 or want.NX and e >= 0 or want.XX and e < 0 or want.GT and (e < 0 or at <= e)
        or want.LT and e >= 0 and at >= e) then return 0 end
      return raw(n, k, ms)
    end

    -- named is a key behind the first that is a number, as all masters spell it. Of -0, of what
    -- has a fraction and of what is large they do not spell all alike, and some would take another
    -- key than what was looked at.
    function rare.named(k)
      local spelled = text(k)
      if type(k) == 'number' and (k ~= k or spelled ~= string.format('%.0f', k + 0)) then
        refuse('the script names a key by a number that not all masters spell alike')
      end
      return spelled
    end

    -- ranging is what a command reads as a number, and nil where it is none. To Lua there is one
    -- that no bound is less or more than: what is counted with it is counted no more.
    local function ranging(v)
      v = tonumber(v)
      return v == v and v or nil
    end

    -- listed is ranged of a list. An element is searched for, or counted to from the nearer end.
    local function listed(n, count, a, b, ...)
      local first, last = ranging(a), ranging(b)
      if n == 'LPOP' or n == 'RPOP' then
        return math.min(first or 0, count), 0
      elseif n == 'LREM' or n == 'LINSERT' then
        return 0, count
      elseif n == 'LPOS' then
        local all = {b, ...}
        for i = 1, #all, 2 do
          local most = ranging(all[i + 1])
          if type(all[i]) == 'string' and #all[i] < 20 and string.upper(all[i]) == 'MAXLEN' and most and most > 0 then count = math.min(count, most) end
        end
        return 0, count
      elseif not first then
        return 0, 0
      end
      if first < 0 then first = math.max(first + count, 0) end
      local behind = math.max(math.min(first, count - 1 - first), 0)
      if n ~= 'LRANGE' or not last then return 0, behind end
      if last < 0 then last = last + count end
      return math.max(math.min(last, count - 1) - first + 1, 0), behind
    end

    -- ranged is how many strings there are in the reply to a command that reads of so many
    -- elements all, or a range; and behind how many others it looks for them.
    function rare.ranged(n, k, count, ...)
      if string.find(n, '^[LR]') then return listed(n, count, ...) end
      if string.sub(n, 1, 1) ~= 'Z' then return (n == 'HGETALL' and 2 or 1) * count, 0 end
      local most, behind, scores = count, 0, 1
      local all, by, rev = {...}, string.sub(n, -5) == 'SCORE' and 'BYSCORE', string.sub(n, 1, 4) == 'ZREV'
      local first, last = ranging(all[1]), ranging(all[2])
      for i = 3, select('#', ...) do
        local o = type(all[i]) == 'string' and #all[i] < 20 and string.upper(all[i])
        if o == 'BYSCORE' or o == 'BYLEX' then by = o end
        if o == 'REV' then rev = true end
        if o == 'WITHSCORES' then scores = 2 end
        if o == 'LIMIT' then most, behind = ranging(all[i + 2]) or most, ranging(all[i + 1]) or 0 end
      end
      if by then
        local between = raw(by == 'BYLEX' and 'ZLEXCOUNT' or 'ZCOUNT', k, text(all[rev and 2 or 1]), text(all[rev and 1 or 2]))
        if type(between) == 'number' then count = between end
        behind = math.min(math.max(behind, 0), count)
      elseif first and last then
        if first < 0 then first = math.max(first + count, 0) end
        if last < 0 then last = last + count end
        count = math.max(math.min(last, count - 1) - first + 1, 0)
      end
      if most >= 0 then count = math.min(count, most) end
      return scores * count, by and behind or 0
    end

    -- told is an error as masters from 7.0 on tell it. Those before tell as errors of Lua what
    -- keeps them from carrying out a command, with the code of a reply or none.
    function rare.told(e)
      local _, place = string.find(e, '^@user_script: %d+: ')
      if place then
        local plain = string.match(e, '^%-([^\r\n]*)', place + 1)
        if plain then return plain end
        if string.find(e, 'must be strings', 1, true) then return 'ERR Lua redis lib command arguments must be strings or integers' end
        if string.find(e, 'Wrong number', 1, true) then return 'ERR Wrong number of args calling Redis command from script' end
        return 'ERR ' .. string.sub(e, place + 1)
      end
      local text = string.gsub(e, "^(ERR invalid expire time in) (%a+)$", "%1 '%2' command")
      text = string.gsub(text, '^(ERR RANK .* the second), %.%.%.$', '%1 ... or use negative to start from the end of the list')
      return text
    end

    -- what a tag is

    -- further has a script use a key that it was not given, or refuses it: nothing is asked of
    -- Redis about a key before.
    function rare.further(k)
      local name = #k > 128 and string.sub(k, 1, 128) .. '...' or k
      name = string.gsub(name, '%c', '?')
      if string.sub(k, 1, 15) == 'redlock-proxy:{' then
        refuse("the script uses the key '" .. name .. "': keys that begin with redlock-proxy:{ are the proxy's own")
      end
      local cure = "', which it was not given: give it in KEYS"
      if not reaches then refuse("the script uses the key '" .. name .. cure .. ', since its user may not use all keys') end
      if #k > 65536 then refuse('the name of a key is longer than 65536 bytes') end
      if not its.tags then
        its.tags = {}
        for i = 1, #its.given do its.tags[__tag(its.given[i])] = true end
      end
      if not its.tags[__tag(k)] then refuse("the script uses the key '" .. name .. cure .. ", or give it the hash tag of one that is there") end
      its.reached, its.declared[k] = true, true
    end

    -- alike is what is left of a key as all masters are told, where this one differs little from
    -- that, and the script has not changed it.
    function rare.alike(k, p)
      local i, known = 0, answer and (k == answer[5] and 5 or its.recorded and its.recorded[k])
      if known and answer[known + 3] ~= '' then return p end
      for left in string.gmatch(L[4], '%d+') do
        i = i + 1
        if K[i] == k and left ~= '0' and math.abs(left - p) <= L[2] / 2 then return tonumber(left) end
      end
      return p
    end

    -- line is where the script is, beyond what is called in the prelude and, at most, as many
    -- functions of Lua's own. 0 where there is no telling, as where it ends in
    -- return redis.call(…), which Lua carries out in its place.
    function rare.line(natives)
      for level = 3, 12 do
        local _, place = pcall(error, '', level)
        local at = tonumber((string.match(place, ':(%d+):')))
        if at and at ~= P then return at end
        if not at then
          if natives == 0 then return 0 end
          natives = natives - 1
        end
      end
      return 0
    end

    -- placed is an error's text with the script's line, if that is known, in the place of the
    -- prelude's.
    function rare.placed(e, at)
      local _, last = string.find(e, '^user_script:' .. P .. ': ')
      return last and (at > 0 and 'user_script:' .. at .. ': ' or '') .. string.sub(e, last + 1) or e
    end

    return rare
  end

  local function check(k)
    if type(k) ~= 'string' then
      k = seldom().named(k)
      if type(k) ~= 'string' then return end
    end
    if k ~= K[1] then
      if not its.declared then
        its.declared = {}
        for i = 1, #K do its.declared[K[i]] = true end
      end
      if not its.declared[k] then seldom().further(k) end
    end
  end

  -- bulk is about how many bytes are to be gone through to dump a key; what is small is
  -- nothing. How long a string is, is known, and what other keys take is first estimated by a
  -- few elements, and then asked of all, unless it cannot be small: the few may be unlike all
  -- others, so it is so many elements that tell, which take 64 bytes each or more.
  local function bulk(k)
    local size = raw('MEMORY', 'USAGE', k)
    if type(size) ~= 'number' or size <= 256 then return 0 end
    if size <= 2097152 then size = raw('MEMORY', 'USAGE', k, 'SAMPLES', '0') end
    if type(size) ~= 'number' then return 0 end
    if size > 2097152 then
      local n = raw('STRLEN', k)
      if type(n) == 'number' then size = n
      else
        for _, count in ipairs{'ZCARD', 'HLEN', 'SCARD', 'LLEN'} do
          n = raw(count, k)
          if type(n) == 'number' and n <= 32768 then size = raw('MEMORY', 'USAGE', k, 'SAMPLES', '0') end
        end
      end
    end
    its.toil = its.toil + size / 1024
    return size
  end

  -- record keeps what a key is before it is written to. If any, it need not be, and is not
  -- where that costs much. If same, only when the key ends is changed. A step has a record of all its
  -- keys: where what a key has become will be it notes meanwhile what it writes to, its value or its end.
  local function record(k, any, same)
    if k ~= K[1] and type(k) ~= 'string' then
      k = seldom().named(k)
      if type(k) ~= 'string' then return end
    end
    if k ~= K[1] then check(k) end
    if answer then
      local i = k == answer[5] and 5 or its.recorded and its.recorded[k]
      if i then
        if L and not any then answer[i + 3] = same and answer[i + 3] ~= 'value' and 'end' or 'value' end
        return i
      end
    end
    local size = its.absent == k and 0 or bulk(k)
    if size > 4096 then
      local heavy = (its.heavy or 0) + size
      if any and heavy > 2097152 then return end
      if size > 2097152 then refuse(seldom().large) end
      -- So many elements of a list may take less, and those of all else do not.
      local n = size > 32768 and not same and raw('LLEN', k)
      if type(n) == 'number' and n > 20000 then
        if any then return end
        refuse(seldom().tooLong)
      end
      if heavy > 2097152 then refuse(seldom().tooMuch) end
      its.heavy = heavy
      if spend and size > 16384 then spend(size > 1048576 and 1024 or size > 131072 and 256 or 32) end
    end
    local d = its.absent ~= k and raw('DUMP', k)
    local kind = type(d)
    if kind == 'table' and any then return end
    if kind == 'table' then refuse('this master cannot keep an undo record: ' .. d.err) end
    if d and #d > 8192 then
      local n = size == 0 and raw('STRLEN', k)
      if #d > 2097152 or type(n) == 'number' and n > 2097152 then refuse(seldom().large) end
    end
    if spend and d and #d > 127 then spend(math.floor(#d / 128)) end
    local p, at = d and raw('PTTL', k) or -2, 0
    if p >= 0 then
      -- When it ends is kept where its ttl of afterwards will be. Asked behind that, this is not too early.
      local now = raw('TIME')
      at = now[1] * 1000 + math.floor(now[2] / 1000) + p
    end
    local touched = L and not any and (same and 'end' or 'value') or ''
    if not answer then
      -- The nils are room for a reply of one value, and for what a step tells besides.
      answer = {0, 0, '', 0, k, d or '', p, touched, at, nil, nil}
      return 5
    end
    local n = #answer
    if n >= 4 + 5 * 400 then refuse('the script writes to more than 400 keys') end
    answer[n + 1], answer[n + 2], answer[n + 3] = k, d or '', p
    answer[n + 4], answer[n + 5] = touched, at
    its.recorded = its.recorded or {}
    its.recorded[k] = n + 1
    return n + 1
  end

  -- milliseconds is what an expiry argument comes to, padded; what is no such
  -- number is left to Redis to refuse, which reads it more strictly than Lua. Below 2^31,
  -- %d says the same everywhere, and faster.
  local function milliseconds(n, unit, absolute)
    local kind = type(n)
    if kind == 'string' then
      n = string.find(n, '^[1-9]%d*$') and tonumber(n)
      if not n then return nil end
    -- A number reaches Redis as %.17g spells it, with an exponent from 10^17 on.
    elseif kind ~= 'number' or n <= 0 or n >= 1e17 or n % 1 ~= 0 then
      return nil
    end
    n = n * unit
    if absolute then
      n = n - seldom().clock()
      if n <= 0 then return '-1' end
    end
    if n <= 0 or n > 9.22337e18 then return nil end
    -- What is longer than 200 years is far, see clock.Far.
    if n > 6307200000000 then return string.format('%.0f', math.min(math.max(n, 6500000000000), 9999999999999998)) end
    n = n + (n - n % 100) / 100 + 2
    return string.format(n < 2147483648 and '%d' or '%.0f', n)
  end

  -- command carries one command out and answers what Redis answers. What locks are
  -- taken with comes first.
  local function command(n, k, ...)
    if k ~= K[1] then k = text(k) end
    n = string.upper(n)
    if n == 'EXISTS' or n == 'MGET' then
      if k ~= K[1] then check(k) end
      if (...) ~= nil then
        local all = {...}
        for i = 1, select('#', ...) do check(all[i]) end
      end
      if n == 'MGET' then
        if spend then return bounding().read(n, k, ...) end
        sparing(n, k, ...)
        return raw(n, k, ...)
      end
      local r = raw(n, k, ...)
      if r == 0 then its.absent = k end
      return r
    elseif n == 'HINCRBY' or n == 'HSET' or n == 'ZADD' or n == 'HMSET' or n == 'ZINCRBY' or n == 'INCR' or n == 'INCRBY'
      or n == 'DECR' or n == 'DECRBY' or n == 'GETSET' or n == 'APPEND' then
      record(k)
      local r = raw(n, k, ...)
      its.wrote = its.wrote or type(r) ~= 'table' or not r.err
      return r
    elseif n == 'PEXPIRE' or n == 'EXPIRE' or n == 'PEXPIREAT' or n == 'EXPIREAT' then
      local ms, o = ...
      if ms == nil or o == nil and select('#', ...) > 1 then return raw(n, k, ...) end
      record(k, false, true)
      ms = milliseconds(ms, (n == 'EXPIRE' or n == 'EXPIREAT') and 1000 or 1, n == 'PEXPIREAT' or n == 'EXPIREAT')
      local r
      if not ms then
        if o == nil then r = raw(n, k, ...) else r = seldom().flagged(n, k, ...) end
        its.removed = its.removed or r == 1
      else
        if o == nil then r = raw('PEXPIRE', k, ms) else r = seldom().flagged('PEXPIRE', k, ms, select(2, ...)) end
        if ms == '-1' then its.removed = its.removed or r == 1 else its.wrote = its.wrote or r == 1 end
      end
      return r
    elseif n == 'PTTL' or n == 'TTL' then
      if k ~= K[1] then check(k) end
      local p = raw('PTTL', k, ...)
      if type(p) == 'number' and p > 0 then
        if p <= 6400000000000 then p = math.max(p - math.floor(p / 100) - 2, 1) end
        if L and L[4] ~= '' then p = seldom().alike(k, p) end
        if n == 'TTL' then p = math.floor((p + 500) / 1000) end
        its.ttls = its.ttls or {}
        its.ttls[p] = true
      end
      return p
    elseif n == 'DEL' or n == 'UNLINK' then
      record(k)
      local all = {...}
      for i = 1, select('#', ...) do record(all[i]) end
      local r = raw(n, k, ...)
      its.removed = its.removed or type(r) == 'number' and r > 0
      return r
    elseif n == 'SET' or n == 'GETEX' then
      local i = record(k)
      local c = {...}
      if #c ~= select('#', ...) then return raw(n, k, ...) end
      local get, nx, xx, compares, units
      for j = n == 'SET' and 2 or 1, #c do
        local o = type(c[j]) == 'string' and string.upper(c[j])
        local unit = (o == 'PX' or o == 'PXAT') and 1 or (o == 'EX' or o == 'EXAT') and 1000
        -- Redis takes no two of these.
        if unit and units and units ~= o then return raw(n, k, ...) end
        if unit then
          units = o
          local ms = milliseconds(c[j + 1], unit, o == 'PXAT' or o == 'EXAT')
          if ms == '-1' then ms = '1' end
          if ms then c[j], c[j + 1] = 'PX', ms end
        end
        get, nx, xx = get or o == 'GET', nx or o == 'NX', xx or o == 'XX'
        compares = compares or o == 'IFEQ' or o == 'IFNE'
      end
      local r = raw(n, k, unpack(c))
      if nx and get and type(r) == 'table' and r.err == 'ERR syntax error' then
        -- Masters before 7.0 do not take both.
        for j = #c, 2, -1 do
          if type(c[j]) == 'string' and string.upper(c[j]) == 'GET' then table.remove(c, j) end
        end
        r = raw(n, k, unpack(c))
        if type(r) ~= 'table' then r = raw('GET', k) elseif r.ok then r = false end
      end
      if type(r) == 'table' then
        its.wrote = its.wrote or r.ok
      elseif n == 'GETEX' then
        its.wrote = its.wrote or r and #c > 0
      elseif get then
        -- SET ... GET answers the old value, and not whether it set.
        if nx then its.wrote = its.wrote or not r
        elseif xx then its.wrote = its.wrote or r
        elseif compares then its.wrote = its.wrote or (raw('DUMP', k) or '') ~= answer[i + 1]
        else its.wrote = true end
      end
      return r
    elseif n == 'HEXISTS' or n == 'HGET' or n == 'TYPE' or n == 'ZSCORE' or n == 'ZCARD' or n == 'ZCOUNT' or n == 'STRLEN'
      or n == 'HLEN' or n == 'SISMEMBER' or n == 'SCARD' or n == 'GETRANGE' or n == 'SMISMEMBER' then
      if k ~= K[1] then check(k) end
      return raw(n, k, ...)
    elseif n == 'GET' then
      if k ~= K[1] then check(k) end
      if not spend or select('#', ...) > 0 then return raw(n, k, ...) end
      local r = raw('GETRANGE', k, '0', longest)
      if r == '' and raw('EXISTS', k) == 0 then return false end
      return r
    elseif n == 'HGETALL' or n == 'HMGET' or n == 'HKEYS' or n == 'HVALS' or n == 'SMEMBERS' or n == 'ZRANGE'
      or n == 'ZREVRANGE' or n == 'ZRANGEBYSCORE' or n == 'ZREVRANGEBYSCORE' then
      if k ~= K[1] then check(k) end
      if spend then return bounding().read(n, k, ...) end
      sparing(n, k, ...)
      local r = raw(n, k, ...)
      if (n == 'HGETALL' or n == 'SMEMBERS' or n == 'HKEYS') and type(r) == 'table' then
        its.unordered = its.unordered or {}
        its.unordered[r] = n == 'HGETALL' and '%' or '~'
      end
      return r
    elseif n == 'HDEL' or n == 'SREM' or n == 'ZREM' or n == 'ZREMRANGEBYSCORE' or n == 'ZREMRANGEBYRANK' or n == 'GETDEL' then
      record(k)
      local r = raw(n, k, ...)
      its.removed = its.removed or r and r ~= 0 and type(r) ~= 'table'
      return r
    elseif n == 'SETNX' or n == 'HSETNX' or n == 'SADD' or n == 'PERSIST' then
      record(k, false, n == 'PERSIST')
      local r = raw(n, k, ...)
      its.wrote = its.wrote or type(r) == 'number' and r > 0
      return r
    elseif n == 'SETEX' or n == 'PSETEX' then
      local ms, v = ...
      record(k)
      local padded = milliseconds(ms, n == 'SETEX' and 1000 or 1)
      local r
      if padded and v ~= nil and select('#', ...) == 2 then r = raw('PSETEX', k, padded, v) else r = raw(n, k, ...) end
      its.wrote = its.wrote or type(r) == 'table' and r.ok
      return r
    elseif n == 'MSET' or n == 'MSETNX' then
      record(k)
      local all = {...}
      for i = 2, select('#', ...), 2 do record(all[i]) end
      local r = raw(n, k, ...)
      its.wrote = its.wrote or r == 1 or type(r) == 'table' and r.ok
      return r
    elseif n == 'TIME' then
      if k ~= nil then return raw(n, k, ...) end
      seldom().clock()
      return {A[1], A[2]}
    elseif n == 'PUBLISH' or n == 'SPUBLISH' then
      local m = text((...))
      if select('#', ...) ~= 1 or type(m) ~= 'string' then return raw(n, k, ...) end
      if #k > 1024 then return {err = 'ERR the name of a channel or a pattern is longer than 1024 bytes'} end
      -- See quorum.Channel.
      if n == 'SPUBLISH' then k = '\0s' .. k elseif string.byte(k) == 0 then k = '\0c' .. k end
      its.published = its.published or {}
      if #its.published >= 800 then refuse('the script publishes more than 400 messages') end
      its.published[#its.published + 1], its.published[#its.published + 2] = k, m
      return 0
    elseif n == 'SELECT' then
      -- That this master may vote is known of the connection's database alone.
      refuse('the script selects a database: a script is for that of its connection')
    elseif n == 'PING' or n == 'ECHO' then
      if k == nil then return raw(n) end
      return raw(n, k, ...)
    elseif n == 'LLEN' or n == 'LINDEX' or n == 'LRANGE' or n == 'LPOS' then
      if k ~= K[1] then check(k) end
      local at = n == 'LINDEX' and tonumber((...))
      if n ~= 'LLEN' and not (at and at >= -64 and at <= 64) then
        if spend then return bounding().read(n, k, ...) end
        sparing(n, k, ...)
      end
      return raw(n, k, ...)
    elseif n == 'LPUSH' or n == 'RPUSH' or n == 'LPOP' or n == 'RPOP' or n == 'LREM' or n == 'LMOVE' or n == 'RPOPLPUSH' or n == 'LTRIM'
      or n == 'LINSERT' or n == 'LSET' or n == 'LPUSHX' or n == 'RPUSHX' then
      local i, at = record(k), ...
      if n == 'LMOVE' or n == 'RPOPLPUSH' then
        if select('#', ...) > 0 then record(at) end
      elseif at ~= nil and string.find(' LPOP RPOP LREM LTRIM LINSERT LSET ', n, 1, true) then
        if spend then bounding().looked(n, k, ...) else sparing(n, k, ...) end
      end
      local r = raw(n, k, ...)
      if n == 'LREM' or n == 'LTRIM' then
        its.removed = its.removed or type(r) == 'number' and r > 0 or i and type(r) == 'table' and r.ok and answer[i + 1] ~= ''
      else
        its.wrote = its.wrote or type(r) == 'string' or type(r) == 'number' and r > 0 or type(r) == 'table' and (r.ok or #r > 0)
      end
      return r
    end
    -- what few call
    local known = raw('COMMAND', 'INFO', n)
    if type(known) == 'table' and known[1] == false then
      return {err = 'ERR Unknown Redis command called from script'}
    end
    refuse(n .. ' is not for lock scripts: this proxy runs those that use strings, hashes, lists, sets and sorted sets')
  end

  -- asked looks at what command takes for granted: that the first two arguments are
  -- strings, or numbers, and that the script may write.
  local function asked(...)
    local n, k, a, b, more = ...
    local sound = type(n) == 'string' and (k and k == K[1] or type(k) == 'string')
    if spend then
      spend(3)
      -- A name is compared and looked up, and a key, too.
      if type(n) == 'string' and #n > 64 then return {err = 'ERR Unknown Redis command called from script'} end
      if sound and #k > 255 then spend(math.floor(#k / 256)) end
    end
    if O or not sound then
      local count = select('#', ...)
      if count == 0 then return {err = 'ERR Please specify at least one argument for this redis lib call'} end
      n, k = text(n), text(k)
      if type(n) ~= 'string' or count > 1 and type(k) ~= 'string' then
        return {err = 'ERR Lua redis lib command arguments must be strings or integers'}
      end
      n = ' ' .. string.upper(n) .. ' '
      local writing = string.find(seldom().writes, n, 1, true)
      if count == 1 and n ~= ' TIME ' and n ~= ' PING ' and (writing or string.find(seldom().reads, n, 1, true)) then
        return {err = 'ERR Wrong number of args calling Redis command from script'}
      end
      if O and writing then return {err = 'ERR Write commands are not allowed from read-only scripts.'} end
    end
    if spend then
      if a and (more ~= nil or type(a) == 'string' and #a > 255 or type(b) == 'string' and #b > 255) then bounding().weighed(...) end
    else
      its.toil = its.toil + 1
    end
    local r = command(...)
    local kind = type(r)
    if kind == 'table' and r.err then
      r.err = seldom().told(r.err)
      local code = string.match(r.err, '^(%u+) ')
      if code and not its.troubled and string.find(seldom().troubles, ' ' .. code .. ' ', 1, true) then its.troubled = r.err end
    elseif spend and (kind == 'table' and not r.ok or kind == 'string' and #r > 255) then
      bounding().got(r)
    end
    return r
  end

  local function call(...)
    local r = asked(...)
    if type(r) == 'table' and r.err then
      its.raised = {{err = r.err}, seldom().line(0)}
      error(its.raised[1], 0)
    end
    return r
  end

  -- raising is what an error comes to: its text, and the line. Here, and not behind pcall, it is
  -- still what was raised, and where. That is answered, since the embedded masters' Lua may
  -- have lost our variables by then.
  local function raising(e)
    local line = its.raised and e == its.raised[1] and its.raised[2] or seldom().line(1)
    local said
    if type(e) == 'table' then
      said = rawget(e, 'err')
      if type(said) ~= 'string' then said = 'ERR nil' end
    elseif type(e) == 'string' then
      said = 'ERR ' .. seldom().placed(e, line)
    else
      said = 'ERR ' .. (type(e) == 'number' and tostring(e) or 'nil')
    end
    return {said, line}
  end

  -- what it knows
  local script
  script, spend = make(keys, argv, h, steps and steps + 1, refuse)

  -- encode turns a reply into a shape, and the one value that it speaks of, or all.
  local function encode(v)
    local t = type(v)
    if t == 'nil' or v == false then
      return '_'
    elseif t == 'string' then
      return '$', v
    elseif t == 'number' then
      -- What no integer can hold is the least of all in Redis.
      if v ~= v or v >= 2^63 or v < -2^63 then return ':', '-9223372036854775808' end
      v = v < 0 and math.ceil(v) or math.floor(v)
      return its.ttls and its.ttls[v] and 't' or ':', v
    elseif t == 'boolean' then
      return ':', '1'
    elseif t ~= 'table' then
      return '_'
    elseif type(rawget(v, 'err')) == 'string' then
      return '-', string.match(rawget(v, 'err'), '^%Z*')
    elseif type(rawget(v, 'ok')) == 'string' then
      return '+', string.match(rawget(v, 'ok'), '^%Z*')
    end
    local shape, values, size = {}, {}, 0
    local function each(a, depth)
      local n = 0
      if type(rawget(a, 'double')) == 'number' or type(rawget(a, 'map')) == 'table' or type(rawget(a, 'set')) == 'table'
        or type(rawget(a, 'big_number')) == 'string' or type(rawget(a, 'verbatim_string')) == 'table' then
        refuse('the reply of the script is of a type that this proxy does not pass on')
      end
      while rawget(a, n + 1) ~= nil do
        n = n + 1
        if n > 1000 then refuse(seldom().tooLarge) end
      end
      shape[#shape + 1] = (its.unordered and its.unordered[a] or '*') .. n .. ';'
      for i = 1, n do
        local e = rawget(a, i)
        if #values > 500 or #shape > 1000 or size > 2097152 or depth > 6 then refuse(seldom().tooLarge) end
        if type(e) == 'table' and type(rawget(e, 'err')) ~= 'string' and type(rawget(e, 'ok')) ~= 'string' then
          each(e, depth + 1)
        else
          local letter, value = encode(e)
          shape[#shape + 1] = letter
          if value then
            size = size + (type(value) == 'string' and #value or 20)
            values[#values + 1] = value
          end
        end
      end
    end
    each(v, its.ran and 0 or 1)
    return table.concat(shape), nil, values
  end

  local at, thrown = -1, nil
  local body = script
  if L then
    -- A master that declines is to tell what it holds, too.
    body = function()
      if #K <= 16 then for i = 1, #K do record(K[i], true) end end
      return script()
    end
  end
  local ok, v = xpcall(body, raising)
  if not ok and type(v) == 'table' then thrown, at = v[1], v[2] end
  local shape, value, values
  if ok then
    ok, shape, value, values = pcall(encode, v)
    if not ok then thrown = 'ERR ' .. tostring(shape) end
  end
  if L and answer and not its.refused then
    -- A step is refused by what its keys have become, before that is dumped. They have not become
    -- more than they were, and were given: an element takes less than 128 bytes more. But a client's
    -- script may write what it is given again and again.
    local sum = its.heavy or 0
    local given = 2 * sum + 128 * #A
    for i = 1, #A do given = given + #A[i] end
    if given > 1048576 or its.ran or spend then
      pcall(function()
        for i = 5, #answer, 5 do
          local size = answer[i + 3] == 'value' and bulk(answer[i]) or 0
          if size > 4096 then sum = sum + size end
          if sum > 4194304 then refuse(seldom().tooMuch) end
        end
      end)
    end
  end
  if spend then
    if not its.refused then its.toiled = steps - spend(0) > 1000 end
  else
    its.toiled = its.toil > 1000
  end
  if its.refused or not ok then
    if its.refused then
      local left = 4194304
      -- ended takes off a ttl that was given back what has passed of it, where the proxy's user may.
      local function ended(k, p, at)
        if p >= 0 then raw('PEXPIREAT', k, string.format('%.0f', at)) end
      end
      for i = 5, answer and #answer or 0, 5 do
        local k, d, p = answer[i], answer[i + 1], answer[i + 2]
        local written = not L or answer[i + 3] ~= '' and answer[i + 3]
        if written == 'end' and raw('EXISTS', k) == 1 then
          written = false
          if p ~= raw('PTTL', k) then
            if p < 0 then raw('PERSIST', k) else raw('PEXPIRE', k, string.format('%.0f', math.max(p, 1))) end
            ended(k, p, answer[i + 4])
          end
        end
        local size = written and left > 0 and raw('MEMORY', 'USAGE', k)
        if type(size) == 'number' then left = left - size end
        -- To restore what is the same costs less than to see that of much.
        if written and (left <= 0 or d ~= (raw('DUMP', k) or '') or p ~= raw('PTTL', k)) then
          if d == '' then raw('DEL', k)
          else
            raw('RESTORE', k, p < 0 and '0' or string.format('%.0f', math.max(p, 1)), d, 'REPLACE')
            ended(k, p, answer[i + 4])
          end
        end
      end
      return {4 + (its.toiled and 64 or 0), 0, '-', 0, its.refused}
    end
    shape, value, values = '-', thrown or 'ERR ' .. tostring(v), nil
  end
  if its.troubled then shape, value, values = '-', its.troubled, nil end
  -- What is no step may have found nothing to delete, or another value than what it was to, which is told nowhere else.
  local function changed(k) raw('HDEL', steps_key, #k > 64 and string.rep(R.sha1hex(k), 2) or k) end
  local n, calm, added = 4, nil, false
  if answer and (L or its.wrote or its.removed) then
    local now
    if L then
      now = L[5][1] * 1000 + math.floor(L[5][2] / 1000)
    end
    for i = 5, #answer, 5 do
      local k, ended = answer[i], answer[i + 4]
      local ends = ended
      if L and answer[i + 3] == '' then
        answer[i + 3], answer[i + 4] = answer[i + 1], answer[i + 2]
      else
        local after
        if answer[i + 3] == 'end' then
          after = raw('EXISTS', k) == 1 and answer[i + 1]
        else
          after = raw('DUMP', k)
        end
        if after and #after > 100 and not L then after = R.sha1hex(after) end
        answer[i + 3], answer[i + 4] = after or '', raw('PTTL', k)
        if L and answer[i + 4] >= 0 then
          -- Masters before 7.2 have time pass while a script runs, so it is asked right behind that.
          local at = raw('TIME')
          ends = at[1] * 1000 + math.floor(at[2] / 1000) + answer[i + 4]
        end
      end
      n = i + 4
      -- See quorum.StepsKey. A dump ends with its checksum.
      if L then
        local field = #k > 64 and string.rep(R.sha1hex(k), 2) or k
        local found, was, p, made = string.sub(answer[i + 1], -8), raw('HGET', steps_key, field), answer[n], answer[i + 3]
        local trail, rest, since, from, mark = '', -29 - #found, nil, nil, nil
        if type(was) == 'string' and string.sub(was, rest, -30) == found and string.find(was, '^[-0]%d+$', -29) and #was + rest >= 0 and #was + rest <= 72
          and (#was + rest) % 9 == 0 and math.abs(string.sub(was, -14) - ended) <= 10 then
          since, from, trail = string.sub(was, -29, -15), tonumber(string.sub(was, -28, -15)), string.sub(was, 1, rest - 1)
        end
        if not since then from, since = now, (found == '' and '-' or '0') .. string.format('%014.0f', now) end
        if (its.wrote or its.removed) and (made ~= answer[i + 1] or p ~= answer[i + 2]) then
          -- What the key is, as all masters would say it, whatever their version, and in whatever order they keep it.
          local what, kind = '', string.byte(made)
          if kind == 0 then
            what = string.sub(made, 1, -11)
          elseif kind then
            what = string.sub('lszhz...hlszhl.hzl.s.hhhh', kind, kind)
            local count = what == 'l' and 'LLEN' or what == 'h' and 'HLEN' or what == 's' and 'SCARD' or what == 'z' and 'ZCARD'
            local size = count and raw(count, k)
            what = what .. (type(size) == 'number' and size or '') .. ((type(value) == 'string' or type(value) == 'number') and value or '')
          end
          mark = string.sub(R.sha1hex(string.sub(trail, -9, -2) .. L[1] .. what), 1, 8)
        end
        calm = (calm and calm .. ' ' or '') .. (string.byte(since) == 45 and '-' or '') .. math.max(now - from, 0) .. '/' .. trail .. (mark and '/' or '') .. (mark or '')
        local left = (mark and string.sub(trail, -63) or trail) .. (mark or '') .. (mark and '-' or '') .. string.sub(made, -8) .. since .. (p >= 0 and string.format('%014.0f', ends) or '00000000000000')
        -- Who could not drop it again is not to tell of it.
        if left ~= was and (was or type(raw('HDEL', steps_key, field)) == 'number') then
          added = raw('HSET', steps_key, field, left) == 1 or added
        end
      end
    end
    local many = added and raw('HLEN', steps_key)
    if type(many) == 'number' and many > 4096 then
      local some = raw('HRANDFIELD', steps_key, math.min(many - 4096, 1000))
      if type(some) == 'table' and some[1] then raw('HDEL', steps_key, unpack(some)) else raw('DEL', steps_key) end
    end
  else
    for i = 5, its.reached and answer and #answer or 0, 5 do changed(answer[i]) end
    answer = {0, 0, '', 0, value}
  end
  local latches = L and (its.wrote or its.removed or string.sub(L[4], 1, 1) == '!')
  for i = 1, latches and #L[3] or 0 do raw('SET', L[3][i], L[1], 'PX', L[2]) end
  for i = 1, L and 0 or O and 0 or #K do changed(K[i]) end
  for i = 5, not L and its.reached and n or 0, 5 do changed(answer[i]) end
  answer[1] = (its.wrote and 1 or 0) + (its.removed and 2 or 0) + (L and 16 or 0) + (its.troubled and 32 or 0)
    + (its.toiled and 64 or 0) + (its.reached and 128 or 0) + (latches and 256 or 0) + (calm and 512 or 0)
  answer[2], answer[3], answer[4] = at, shape, (n - 4) / 5
  if values then
    for i = 1, #values do answer[n + i] = values[i] end
    n = n + #values
  elseif value then
    n = n + 1
    answer[n] = value
  end
  for i = 1, its.published and #its.published or 0 do answer[n + i] = its.published[i] end
  if calm then answer[#answer + 1] = calm end
  return answer
  end)(make, keys, argv)
end)
