-- Lists all blocks that hold, from the first that ends.
--
-- KEYS      in this order, both or, while they are in different places, one of them:
--           sorted set: names of all blocks by their ends, in microseconds since the epoch
--           hash: descriptions of all blocks by their names
-- ARGV      now_us: microseconds since the epoch, or '' for this server's clock
--           which of the Redis keys these are: 'list', 'ends' or 'descriptions'
--           for 'descriptions', the names of blocks
-- Reply     for each block: its end in microseconds, its description; for 'ends': its end and its name; for
--           'descriptions': its description, or '' if there is none

-- No block ends later; what does is of another making.
local LATEST = '9007199254740991'

local now = tonumber(ARGV[1])
if not now then
    local clock = redis.call('TIME')
    now = clock[1] * 1000000 + clock[2]
end

local which, list = ARGV[2], {}
local ends = which ~= 'descriptions' and KEYS[1]
local descriptions = which == 'descriptions' and KEYS[1] or KEYS[2]

local function is(key, kind)
    return redis.call('TYPE', key).ok == kind
end

if which == 'descriptions' then
    local readable = is(descriptions, 'hash')
    for i = 3, #ARGV do
        list[#list + 1] = readable and redis.call('HGET', descriptions, ARGV[i]) or ''
    end
    return list
end
if not is(ends, 'zset') or (descriptions and not is(descriptions, 'hash')) then
    return list
end
local found = redis.call('ZRANGEBYSCORE', ends, string.format('(%.0f', now), LATEST, 'WITHSCORES')
for i = 1, #found, 2 do
    local description = found[i]
    if descriptions then
        description = redis.call('HGET', descriptions, found[i])
    end
    if description then
        list[#list + 1] = tonumber(found[i + 1])
        list[#list + 1] = description
    end
end
return list
