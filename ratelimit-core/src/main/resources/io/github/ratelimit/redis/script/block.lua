-- Blocks an identifier, or ends a block.
--
-- KEYS      in this order, those in one slot:
--           blocks of the identifier, which its requests read
--           sorted set: names of all blocks by their ends, in microseconds since the epoch
--           hash: descriptions of all blocks by their names
-- ARGV      now_us: microseconds since the epoch, or '' for this server's clock
--           name of the policy, '' for all policies
--           for how long, in microseconds; 0 ends the block
--           name of the block, its description, which is stored after its end
--           which of these Redis keys there are: 'all', 'own', 'list', or one of the list, 'ends' or 'descriptions';
--           'pause': as 'own', and a block that ends later is kept
--           for 'descriptions', the reply of the call for 'ends'
--           for 'list', how many current blocks it may have; '' for any number
-- Reply     when the block ends, in microseconds since the epoch; ending one: 1 if the identifier had such a block, or 0;
--           for 'ends': when the last of all blocks ends, 0 if that is not known
--
-- A node whose slot is moving cannot read a deleted key: nothing is read after it may have been deleted.
--
-- Blocks of an identifier, for each: its end in microseconds (7 bytes), length of the name of the policy (2 bytes), the
-- name. A key of another type counts as empty, and is replaced.

-- The largest number of ended blocks that are removed at once.
local MOST = 100
-- Keys must not expire by the server's clock, which does not follow a custom clock.
local CUSTOM_CLOCK_TTL_US = 60000000
-- No block lasts longer than 3650 days; a longer one is foreign.
local LONGEST_US = 3650 * 86400 * 1000000

local now, policy, time, name, description = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local which, known_last, most_listed = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local own, ends, descriptions
if which == 'all' then
    own, ends, descriptions = KEYS[1], KEYS[2], KEYS[3]
elseif which == 'own' or which == 'pause' then
    own = KEYS[1]
elseif which == 'list' then
    ends, descriptions = KEYS[1], KEYS[2]
elseif which == 'ends' then
    ends = KEYS[1]
else
    descriptions = KEYS[1]
end
local clock = redis.call('TIME')
local server_now = clock[1] * 1000000 + clock[2]
local custom_clock = now ~= nil
now = now or server_now

local function expire(key, finish)
    local ttl = math.min(finish - now, LONGEST_US)
    if custom_clock then
        ttl = math.max(ttl, CUSTOM_CLOCK_TTL_US)
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
    -- All current blocks of the identifier, except that of the policy.
    local value = redis.call('MGET', key)[1] or ''
    local kept, latest, found, at = {}, 0, 0, 1
    local finish = time > 0 and now + time or 0
    while at + 8 <= #value do
        local till, length = struct.unpack('>I7I2', value, at)
        local of = string.sub(value, at + 9, at + 8 + length)
        at = at + 9 + length
        if till > now and of == policy then
            found = 1
            finish = which == 'pause' and math.max(finish, till) or finish
        elseif till > now then
            kept[#kept + 1] = pack(till, of)
            latest = math.max(latest, till)
        end
    end
    if finish > 0 then
        kept[#kept + 1] = pack(finish, policy)
        latest = math.max(latest, finish)
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

-- Returns when the last block ends, 0 if that is not known.
local function last_end()
    local last, found = 0, redis.call('ZRANGE', ends, -2, -1, 'WITHSCORES')
    for i = 1, #found, 2 do
        local till = tonumber(found[i + 1])
        if till > now and (time > 0 or found[i] ~= name) then
            last = math.max(last, till)
        end
    end
    return last
end

-- Returns when the last block ends, and the names of blocks that have ended.
local function update_ends()
    require_type(ends, 'zset')
    if time > 0 then
        redis.call('ZADD', ends, now + time, name)
    end
    local over = {}
    if descriptions then
        over = redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, MOST)
    end
    if time == 0 then
        over[#over + 1] = name
    end
    local last = last_end()
    if last > 0 then
        expire(ends, last)
    end
    if #over > 0 then
        redis.call('ZREM', ends, unpack(over))
    end
    return last, over
end

local function update_descriptions(last, over)
    require_type(descriptions, 'hash')
    if time > 0 then
        redis.call('HSET', descriptions, name, string.format('%.0f ', now + time) .. description)
    end
    if last > 0 then
        expire(descriptions, last)
    end
    if #over > 0 then
        redis.call('HDEL', descriptions, unpack(over))
    end
end

local function is_full()
    require_type(ends, 'zset')
    local found = redis.call('ZRANGE', ends, -most_listed, -most_listed, 'WITHSCORES')
    return #found > 0 and tonumber(found[2]) > now
end

if which == 'list' and most_listed and is_full() then
    return 0
end
local found = own and update(own) or 0
local last, over = known_last, time > 0 and {} or { name }
if ends then
    last, over = update_ends()
end
if descriptions then
    update_descriptions(last, over)
end
if which == 'ends' then
    return last
end
return time > 0 and now + time or found
