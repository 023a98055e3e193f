-- The script of requests of one shape. Fragments of algorithms fill in its sections; the documentation of this package says
-- in which form. Words that end with an underscore are the composer's.
--
-- Each request has KEYS_ Redis keys: those with states, then those with blocks. It has one argument, a_: numbers, names of
-- policies, metadata. Its Redis keys stand behind k_ others. Requests are decided one after the other, and an error of one is
-- none of the others.
--
-- Two sections are others in disguise: alone is request, for one that is alone in its call; reset is wait, for one_more_
-- instead of the cost, and sets reset_.
--
-- @slot key, corrected, stored_
-- @limit wait, remaining, reset_, violated_

--- script
local keys, arguments = KEYS, ARGV
--[if LARGE_]
-- Of each policy and identifier its variables, and where its blocks are.
local x_, blocks_ = {}, { ALL_BLOCKS_ }
--[end]
--[if not HANDED_IN_]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
--[end]
--[if ALL_READ_]
local values = redis.call('MGET', unpack(keys))
--[else]
local values = {}
--[if SOME_READ_]
-- Instead of a state that a fragment reads by itself, something else is read once more.
for k = 1, #keys do
    values[k] = keys[k]
end
for k_ = 0, #keys - 1, KEYS_ do
--[each slot_]
--[if not READS_]
    values[KEY_] = keys[k_ + READ_]
--[end]
--[end]
end
values = redis.call('MGET', unpack(values))
--[end]
--[end]
--[if not LARGE_]
-- A request alone needs no function, which costs as much as the decision.
if #arguments == 1 then
    local a_ = arguments[1]
--[section_ alone]
end
--[end]
-- States that were written in this call, by their keys.
local written = {}
local function decide(k_, a_)
--[section_ request]
end
local replies = {}
for r = 1, #arguments do
    local done, reply = pcall(decide, (r - 1) * KEYS_, arguments[r])
    if not done then
        reply = tostring(type(reply) == 'table' and reply.err or reply)
    end
    replies[r] = reply
end
return replies

--- request
--[if LARGE_]
local reply, numbers_, out = nil, { struct.unpack(FORMAT_, a_) }, {}
local FIRST_ = unpack(numbers_)
for s_ = 1, SLOTS_ do
    x_[s_] = {}
end
--[else]
local LOCALS_
local NUMBERS_ = struct.unpack(FORMAT_, a_)
--[end]
--[if METADATA_]
local metadata = a_:sub(#a_ + 1 - length_)
--[end]
--[if COUNTS_]
--[each slot_]
key = keys[KEY_]
--[if READS_]
--[if ALONE_]
local state = values[KEY_]
--[else]
local state = written[key]
if state == nil then
    state = values[KEY_]
end
--[end]
--[end]
--[if GIVES_BACK_]
--[if READS_]
stored_ = state
--[else]
stored_ = true
--[end]
--[end]
corrected = false
--[section_ load]
--[end]
--[end]
--[if GIVES_BACK_]
--[if COUNTS_]
--[each slot_]
--[if CANCEL]
if cost > 0 and stored_ and stays_ == 0 then
--[else]
if cost > 0 and stored_ then
--[end]
--[section_ refund]
--[section_ save]
end
--[end]
--[end]
--[end]
--[if CHARGE]
--[each slot_]
if cost > 0 then
--[section_ add]
--[section_ save]
end
--[end]
--[end]
--[if HISTORY_]
local history = {}
--[each slot_]
--[section_ history]
--[end]
reply = history
--[else]
--[if DECIDES_]
--[section_ decide]
--[each shadow_]
--[section_ decide]
--[end]
--[else]
reply = '\1'
--[end]
--[end]
--[if ALONE_]
return { reply }
--[else]
return reply
--[end]

--- decide
-- Once for all that may deny the request, then once for each policy in shadow mode.
--[if SHADOW_]
local decided = reply
--[if LARGE_]
out = {}
--[end]
--[end]
local blocked, fits, possible, held = 0, true, true, 0
--[if BLOCKABLE_]
--[each decided_]
-- For how long the identifier is blocked, in the policy or in all.
local blocks = values[BLOCKS_]
if blocks then
    local policy, at = nil, NAMES_
    for i = 1, POLICY_ do
        policy, at = struct.unpack('s', a_, at)
    end
    at = 1
    while at + 8 <= #blocks do
        local till, length = struct.unpack('>I7I2', blocks, at)
        local name = blocks:sub(at + 9, at + 8 + length)
        if (name == '' or name == policy) and till - now > blocked then
            blocked = till - now
        end
        at = at + 9 + length
    end
end
--[end]
--[end]
--[if COUNTS_]
--[each decided_]
--[each limit]
wait = 0
if cost > LARGEST then
    wait, fits, possible = -1, false, false
elseif cost > 0 then
--[section_ wait]
    if wait ~= 0 then
        fits = false
    end
end
--[if COUNT_DENIED_]
violated_ = wait ~= 0
--[end]
--[end]
--[end]
--[end]
local allowed = fits and blocked == 0
--[if HOLD_]
held = now
--[end]
--[if DECIDED_]
--[each decided_]
--[if ACQUIRES_]
--[if SHADOW_]
if decided:byte() == 1 then
--[section_ acquire]
end
--[else]
--[section_ acquire]
--[end]
--[end]
--[each limit]
remaining, reset_ = 0, 0
--[section_ remaining]
-- More quota has arrived when one more than what remains would be allowed.
if remaining < LARGEST then
    local one_more_ = remaining + 1
--[section_ reset]
end
--[if COUNT_DENIED_]
if violated_ ~= (wait ~= 0) then
    reset_ = -1 - reset_
end
--[end]
--[end]
--[if LARGE_]
out[#out + 1] = struct.pack('>each(ddd)', each(remaining, reset_, wait))
--[end]
--[end]
--[if LARGE_]
reply = struct.pack('>Bdd', allowed and 1 or 0, blocked, held) .. table.concat(out)
--[else]
reply = struct.pack('>Bddevery_(ddd)', allowed and 1 or 0, blocked, held, every_(remaining, reset_, wait))
--[end]
--[else]
reply = struct.pack('>Bdd', allowed and 1 or 0, blocked, held)
--[end]
--[if SHADOW_]
reply = decided .. reply
--[end]

--- acquire
--[if COUNT_DENIED_]
local counts = possible and blocked == 0 and cost > 0
--[else]
local counts = allowed and cost > 0
--[end]
if counts then
--[section_ add]
end
-- A state from a clock that was set back would stay ahead.
if counts or (corrected and cost > 0) then
--[section_ save]
end
--[if COUNT_DENIED_]
if counts and not allowed then
--[each limit]
    wait = 0
--[section_ wait]
--[end]
end
--[end]

--- save
local ttl = 0
--[section_ ttl]
if ttl > 0 then
    local state
--[section_ state]
--[if HANDED_IN_]
    -- The server's clock does not follow a clock that is handed in.
    local expiry = math.ceil(ttl / 1000)
    if expiry < 60000 then
        expiry = 60000
    end
    if state then
        redis.call('SET', key, state, 'PX', expiry)
    else
        redis.call('PEXPIRE', key, expiry)
    end
--[else]
    -- By the moment: the time that is left would be rounded up again with each refund.
    local expiry = math.ceil((now + ttl) / 1000)
    if state then
        redis.call('SET', key, state, 'PXAT', expiry)
    else
        redis.call('PEXPIREAT', key, expiry)
    end
--[end]
--[if REREADS_]
    written[key] = state or redis.call('MGET', key)[1]
--[end]
else
    redis.call('DEL', key)
--[if REREADS_]
    written[key] = false
--[end]
end
