-- Lists all blocks, also some that have ended.
--
-- KEYS      hash: descriptions of all blocks by their names
-- Reply     microseconds since the epoch, by this server's clock; descriptions

local clock = redis.call('TIME')
local list = { clock[1] * 1000000 + clock[2] }
if redis.call('TYPE', KEYS[1]).ok == 'hash' then
    for _, description in ipairs(redis.call('HVALS', KEYS[1])) do
        list[#list + 1] = description
    end
end
return list
