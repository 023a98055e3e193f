-- Blocks an identifier, or ends a block.
--
-- KEYS[1]   blocks of the identifier
-- ARGV      now_us: microseconds since the epoch, or '' for this server's clock
--           name of the policy, '' for all policies
--           for how long, in microseconds; 0 ends the block
-- Reply     when the block ends, in microseconds since the epoch; ending one: 1 if there was such a block, or 0
--
-- Value, for each block: its end in microseconds (7 bytes), length of the name of the policy (2 bytes), the name.

local now, policy, time = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local handed_in = now ~= nil
if not handed_in then
    local clock = redis.call('TIME')
    now = clock[1] * 1000000 + clock[2]
end

local function pack(till, name)
    return struct.pack('>I7I2', till, #name) .. name
end

-- All blocks that hold, but for that of the policy.
local value = redis.call('MGET', KEYS[1])[1] or ''
local kept, latest, found, at = {}, 0, 0, 1
while at + 8 <= #value do
    local till, length = struct.unpack('>I7I2', value, at)
    local name = string.sub(value, at + 9, at + 8 + length)
    at = at + 9 + length
    if till > now and name == policy then
        found = 1
    elseif till > now then
        kept[#kept + 1] = pack(till, name)
        latest = math.max(latest, till)
    end
end

local till = now + time
if time > 0 then
    kept[#kept + 1] = pack(till, policy)
    latest = math.max(latest, till)
end
if #kept == 0 then
    redis.call('DEL', KEYS[1])
elseif handed_in then
    redis.call('SET', KEYS[1], table.concat(kept), 'PX', math.max(math.ceil((latest - now) / 1000), 60000))
else
    redis.call('SET', KEYS[1], table.concat(kept), 'PXAT', math.ceil(latest / 1000))
end
return time > 0 and till or found
