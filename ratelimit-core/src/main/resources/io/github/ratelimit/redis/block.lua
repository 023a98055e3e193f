-- Blocks an identifier, or ends a block.
--
-- KEYS      in this order, all or, where these are in different places, the first or the other two:
--           blocks of the identifier, which its requests read
--           sorted set: names of all blocks by their ends, in microseconds since the epoch
--           hash: descriptions of all blocks by their names
-- ARGV      now_us: microseconds since the epoch, or '' for this server's clock
--           name of the policy, '' for all policies
--           for how long, in microseconds; 0 ends the block
--           name of the block, description of the block
-- Reply     when the block ends, in microseconds since the epoch; ending one: 1 if the identifier had such a block, or 0
--
-- Blocks of an identifier, for each: its end in microseconds (7 bytes), length of the name of the policy (2 bytes), the
-- name. A key of another type counts as empty, and is replaced.

-- So many ended blocks are tidied up at a time.
local MOST = 100
-- The server's clock does not follow a clock that is handed in, so keys must not expire by it.
local HANDED_IN_TTL_US = 60000000
-- No block lasts longer than 3650 days; what does is of another making.
local LONGEST_US = 3650 * 86400 * 1000000

local own, ends, descriptions = KEYS[1], KEYS[2], KEYS[3]
if #KEYS == 2 then
    own, ends, descriptions = nil, KEYS[1], KEYS[2]
end
local now, policy, time, name, description = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local clock = redis.call('TIME')
local server_now = clock[1] * 1000000 + clock[2]
local handed_in = now ~= nil
now = now or server_now

local function expire(key, finish)
    local ttl = math.min(finish - now, LONGEST_US)
    if handed_in then
        ttl = math.max(ttl, HANDED_IN_TTL_US)
    end
    redis.call('PEXPIREAT', key, math.ceil((server_now + ttl) / 1000))
end

local function require_type(key, kind)
    local found = redis.call('TYPE', key).ok
    if found ~= kind and found ~= 'none' then
        redis.call('DEL', key)
    end
end

local function pack(till, of)
    return struct.pack('>I7I2', till, #of) .. of
end

local function update(key)
    -- All blocks of the identifier that hold, but for that of the policy.
    local value = redis.call('MGET', key)[1] or ''
    local kept, latest, found, at = {}, 0, 0, 1
    while at + 8 <= #value do
        local till, length = struct.unpack('>I7I2', value, at)
        local of = string.sub(value, at + 9, at + 8 + length)
        at = at + 9 + length
        if till > now and of == policy then
            found = 1
        elseif till > now then
            kept[#kept + 1] = pack(till, of)
            latest = math.max(latest, till)
        end
    end
    if time > 0 then
        kept[#kept + 1] = pack(now + time, policy)
        latest = math.max(latest, now + time)
    end
    if #kept > 0 then
        -- Not after a DEL: a node whose slot is moving would not let a key be created again.
        redis.call('SET', key, table.concat(kept))
        expire(key, latest)
    else
        redis.call('DEL', key)
    end
    return found
end

local function update_list()
    require_type(ends, 'zset')
    require_type(descriptions, 'hash')
    local over = redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, MOST)
    over[#over + 1] = name
    redis.call('ZREM', ends, unpack(over))
    redis.call('HDEL', descriptions, unpack(over))
    if time > 0 then
        redis.call('ZADD', ends, now + time, name)
        redis.call('HSET', descriptions, name, description)
    end
    local last = redis.call('ZRANGE', ends, -1, -1, 'WITHSCORES')
    if last[2] then
        expire(ends, tonumber(last[2]))
        expire(descriptions, tonumber(last[2]))
    end
end

local found = own and update(own) or 0
if ends then
    update_list()
end
return time > 0 and now + time or found
