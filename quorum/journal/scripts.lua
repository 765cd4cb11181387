-- What a script of ours has that runs clients' scripts among its commands. To it Redis is what it is to
-- any other of ours; to them it is what helpers.lua makes of it, and what stands before this. They are
-- run one after the other, and all together have the steps and the bytes of one.
local left = steps + 1

-- script runs a client's: client is what of it stays from one run to the next, with its body, the names
-- that it calls, and its SHA-1. An error ends it, and nothing else, as in Redis.
h.script = function(client, reads, given, argv)
  h, its.ran = theirs, true
  if not client.chunk then
    local chunk, e = loadstring(opens .. client.body .. closes, '@user_script')
    if not chunk then return {err = 'ERR Error compiling script (new function): ' .. e} end
    client.chunk = chunk
    -- Where it calls deep there may be no room left to make them.
    for name in string.gmatch(client.names, '%S+') do local _ = theirs[name] end
  end

  -- What it may use is what it was given, and what has the tag of a key of the transaction, which is
  -- latched; it may write into its own KEYS.
  local all, only, before, own = K, O, left, {}
  for i = 1, #given do own[i] = given[i] end
  K, O, its.declared, its.raised = given, O or reads, nil, nil
  local run
  run, spend = client.chunk(own, argv, theirs, left, refuse)
  spend(8)
  local ok, v = xpcall(run, raising)
  if its.refused then error(its.refused, 0) end
  left = spend(0)
  K, O, spend, its.declared, its.raised = all, only, nil, nil, nil
  its.toil = its.toil + before - left
  if ok then return v end
  if type(v) ~= 'table' then return {err = 'ERR ' .. tostring(v)} end
  local text = string.match(v[1], '^%Z*')
  if v[2] > 0 then text = text .. ' script: ' .. client.sha .. ', on @user_script:' .. v[2] .. '.' end
  return {err = text}
end
