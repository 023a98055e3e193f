-- Keeps the list of all blocks, beside the blocks themselves.
--
-- KEYS[1]   sorted set: names of blocks by their ends, in microseconds since the epoch
-- KEYS[2]   hash: descriptions of blocks by their names
-- ARGV      now_us: microseconds since the epoch, or '' for this server's clock
--           name of the block, end of the block in microseconds (0 = it is ended), description of the block
-- Reply     nothing

-- So much is tidied up at a time.
local MOST = 100

local now, name, till, description = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
local handed_in = now ~= nil
if not handed_in then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
end

local over = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, MOST)
over[#over + 1] = name
redis.call('ZREM', KEYS[1], unpack(over))
redis.call('HDEL', KEYS[2], unpack(over))
if till > now then
    redis.call('ZADD', KEYS[1], till, name)
    redis.call('HSET', KEYS[2], name, description)
end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then
    local ms = math.ceil(tonumber(last[2]) / 1000)
    if handed_in then
        ms = redis.call('TIME')[1] * 1000 + math.max(ms - math.floor(now / 1000), 60000)
    end
    redis.call('PEXPIREAT', KEYS[1], ms)
    redis.call('PEXPIREAT', KEYS[2], ms)
end
return {}
