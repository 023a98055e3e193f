-- Lists all blocks that hold, from the first that ends.
--
-- KEYS[1]   sorted set: names of all blocks by their ends, in microseconds since the epoch
-- KEYS[2]   hash: descriptions of all blocks by their names
-- ARGV      now_us: microseconds since the epoch, or '' for this server's clock
-- Reply     for each block: its end in microseconds, its description

-- No block ends later; what does is of another making.
local LATEST = '9007199254740991'

local now = tonumber(ARGV[1])
if not now then
    local clock = redis.call('TIME')
    now = clock[1] * 1000000 + clock[2]
end

local list = {}
if redis.call('TYPE', KEYS[1]).ok ~= 'zset' or redis.call('TYPE', KEYS[2]).ok ~= 'hash' then
    return list
end
local found = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), LATEST, 'WITHSCORES')
for i = 1, #found, 2 do
    local description = redis.call('HGET', KEYS[2], found[i])
    if description then
        list[#list + 1] = tonumber(found[i + 1])
        list[#list + 1] = description
    end
end
return list
