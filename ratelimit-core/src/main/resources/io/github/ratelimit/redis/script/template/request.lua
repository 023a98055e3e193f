-- The script for requests of one shape. The fragments of algorithms fill in its sections; docs/fragments.md
-- describes their form. Words that end with an underscore belong to this file and to the composer.
--
-- Each request has KEYS_ Redis keys: first those with states, then those with blocks, then those with denials. It has one
-- argument, a_: numbers, names of policies, metadata. Its Redis keys come after k_ others. Requests are decided one after the other; an error in one does not
-- affect the others.
--
-- @slot key, corrected, lasting, stored_, is_denied_, is_blocked_
-- @limit wait, remaining, reset_, violated_

--- script
local keys_, arguments_ = KEYS, ARGV
--[if LARGE_]
-- For each policy and identifier its variables, and the position of its blocks.
local x_, blocks_ = {}, { ALL_BLOCKS_ }
--[end]
--[if not CUSTOM_CLOCK_]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
--[end]
--[if ALL_READ_]
local values_ = redis.call('MGET', unpack(keys_))
--[else]
local values_ = {}
--[if SOME_READ_]
-- For a state that a fragment reads itself, another one is read twice.
for k = 1, #keys_ do
    values_[k] = keys_[k]
end
for k_ = 0, #keys_ - 1, KEYS_ do
--[each slot_]
--[if not READS_]
    values_[KEY_] = keys_[k_ + READ_]
--[end]
--[end]
end
values_ = redis.call('MGET', unpack(values_))
--[end]
--[end]
--[if PENALTIES_]
local written_ = {}
-- Writes denials or blocks, and returns whether that was possible: a full server denies requests without.
local function put_(key_, value_, now_, ttl_)
--[if CUSTOM_CLOCK_]
    local reply_ = redis.pcall('SET', key_, value_, 'PX', math.max(math.ceil(ttl_ / 1000), 60000))
--[else]
    local reply_ = redis.pcall('SET', key_, value_, 'PXAT', string.format('%d', (now_ + ttl_ + 999) / 1000))
--[end]
    if not reply_.err then
        written_[key_] = value_
    end
    return not reply_.err
end
--[end]
--[if not LARGE_]
-- A single request needs no function; creating one costs as much as the decision.
if #arguments_ == 1 then
    local a_ = arguments_[1]
--[each alone_]
--[section_ request]
--[end]
end
--[end]
--[if not PENALTIES_]
-- States written in this call, by their Redis keys.
local written_ = {}
--[end]
local function decide(k_, a_)
--[section_ request]
end
local replies = {}
for r = 1, #arguments_ do
    local done, reply = pcall(decide, (r - 1) * KEYS_, arguments_[r])
    if not done then
        reply = tostring(type(reply) == 'table' and reply.err or reply)
    end
    replies[r] = reply
end
return replies

--- request
--[if LARGE_]
local reply, numbers_, out_ = nil, { struct.unpack(FORMAT_, a_) }, {}
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
key = keys_[KEY_]
--[if READS_]
--[if ALONE_]
local state = values_[KEY_]
--[else]
local state = written_[key]
if state == nil then
    state = values_[KEY_]
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
--[if LASTS_]
lasting = false
--[end]
--[section_ load]
--[end]
--[end]
--[if GIVES_BACK_]
--[if COUNTS_]
--[each slot_]
--[if CANCEL]
if cost > 0 and stored_ and change_ < 0 then
--[else]
if cost > 0 and stored_ then
--[end]
--[section_ refund]
--[section_ save]
end
--[if CANCEL]
if cost > 0 and change_ > 0 then
--[section_ add]
--[section_ save]
end
--[end]
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
local decided_ = reply
--[if LARGE_]
out_ = {}
--[end]
--[end]
local blocked_, fits_, possible_, reserved_at_ = 0, true, true, 0
--[if BLOCKABLE_]
--[each decided_]
-- For how long the identifier is blocked, in this policy or in all of them.
--[if PENALTIES_]
local found_ = written_[keys_[BLOCKS_]] or values_[BLOCKS_]
--[else]
local found_ = values_[BLOCKS_]
--[end]
if found_ then
    local policy_, at_ = nil, NAMES_
    for i_ = 1, POLICY_ do
        policy_, at_ = struct.unpack('s', a_, at_)
    end
    at_ = 1
    while at_ + 8 <= #found_ do
        local till_, size_ = struct.unpack('>I7I2', found_, at_)
        local name_ = found_:sub(at_ + 9, at_ + 8 + size_)
        if (name_ == '' or name_ == policy_) and till_ - now > blocked_ then
            blocked_ = till_ - now
        end
--[if PENALIZES_]
        is_blocked_ = is_blocked_ or ((name_ == '' or name_ == policy_) and till_ > now)
--[end]
        at_ = at_ + 9 + size_
    end
end
--[end]
--[end]
--[if COUNTS_]
--[each decided_]
--[each limit]
wait = 0
if cost > LARGEST then
    wait, fits_, possible_ = -1, false, false
elseif cost > 0 then
--[section_ wait]
    if wait ~= 0 then
        fits_ = false
    end
end
--[if COUNT_DENIED_]
violated_ = wait ~= 0
--[end]
--[if PENALIZES_]
is_denied_ = is_denied_ or wait > 0
--[end]
--[end]
--[end]
--[end]
local allowed_ = fits_ and blocked_ == 0
--[if RESERVE_]
reserved_at_ = now
--[end]
--[if DECIDED_]
--[each decided_]
--[if ACQUIRES_]
--[section_ acquire]
--[end]
--[each limit]
remaining, reset_ = 0, 0
--[section_ remaining]
-- More quota is there when one more than what remains would be allowed.
if remaining < LARGEST then
    local one_more_ = remaining + 1
    -- wait for one_more_ instead of the cost; sets reset_.
--[each reset_]
--[section_ wait]
--[end]
end
--[if COUNT_DENIED_]
if violated_ ~= (wait ~= 0) then
    reset_ = -1 - reset_
end
--[end]
--[end]
--[if LARGE_]
out_[#out_ + 1] = struct.pack('>each(ddd)', each(remaining, reset_, wait))
--[end]
--[end]
--[end]
--[if PENALTIES_]
-- For each policy and identifier with a penalty, when its block ends, and how long it lasts.
local penalties_ = ''
--[if not COUNTS_DENIALS_]
if not allowed_ then
--[end]
--[each decided_]
--[if PENALIZES_]
--[section_ penalize]
--[end]
--[end]
--[if not COUNTS_DENIALS_]
end
--[end]
--[end]
--[if DECIDED_]
--[if LARGE_]
reply = struct.pack('>Bdd', allowed_ and 1 or 0, blocked_, reserved_at_) .. table.concat(out_)
--[else]
reply = struct.pack('>Bddevery_(ddd)', allowed_ and 1 or 0, blocked_, reserved_at_, every_(remaining, reset_, wait))
--[end]
--[else]
reply = struct.pack('>Bdd', allowed_ and 1 or 0, blocked_, reserved_at_)
--[end]
--[if PENALTIES_]
reply = reply .. penalties_
--[end]
--[if SHADOW_]
reply = decided_ .. reply
--[end]

--- acquire
--[if COUNT_DENIED_]
local counts_ = possible_ and blocked_ == 0 and cost > 0
--[else]
local counts_ = allowed_ and cost > 0
--[end]
--[if SHADOW_]
counts_ = counts_ and decided_:byte() == 1
--[end]
if counts_ then
--[section_ add]
end
-- After the clock was set back, the stored state would stay in the future.
if counts_ or (corrected and cost > 0) then
--[section_ save]
end
--[if COUNT_DENIED_]
if counts_ and not allowed_ then
--[each limit]
    wait = 0
--[section_ wait]
--[end]
end
--[end]

--- penalize
-- The same steps as in Denials.java. The state: when the denials that were counted no longer count (7 bytes), their number (4),
-- how long the next block lasts (7), until when that is kept (7).
local till_, length_ = 0, 0
--[if COUNTS_DENIALS_]
local counts_ = not is_blocked_
--[else]
local counts_ = is_denied_ and not is_blocked_
--[end]
--[if SHADOW_]
counts_ = counts_ and decided_:byte() == 1
--[end]
local denials_ = written_[keys_[DENIALS_]] or values_[DENIALS_]
local finish_, count_, next_, kept_ = 0, 0, 0, 0
if denials_ and #denials_ == 25 then
    finish_, count_, next_, kept_ = struct.unpack('>I7I4I7I7', denials_)
end
if finish_ <= now or finish_ > now + WITHIN_ then
    finish_, count_ = now + WITHIN_, 0
end
if kept_ <= now or kept_ > now + 2 * UP_TO_ then
    next_, kept_ = 0, 0
end
next_ = math.min(math.max(next_, FIRST_BLOCK_), UP_TO_)
--[if not BLOCKS_IT_]
-- Counts as if it were blocked.
counts_ = counts_ and now >= kept_ - UP_TO_
--[end]
if counts_ then
--[if COUNTS_DENIALS_]
    count_ = count_ + cost
--[else]
    count_ = count_ + 1
--[end]
    if count_ >= AFTER_ then
        till_, length_ = now + next_, next_
        finish_, count_, next_, kept_ = now, 0, math.min(2 * length_, UP_TO_), now + length_ + UP_TO_
    end
    local state_ = struct.pack('>I7I4I7I7', finish_, count_, next_, kept_)
    if not put_(keys_[DENIALS_], state_, now, math.max(finish_, kept_) - now) then
        till_, length_ = 0, 0
    end
end
--[if BLOCKS_IT_]
if length_ > 0 then
    local policy_, at_ = nil, NAMES_
    for i_ = 1, POLICY_ do
        policy_, at_ = struct.unpack('s', a_, at_)
    end
    -- The current blocks of the identifier, in the form that block.lua writes, and this one.
    local found_, all_, last_ = written_[keys_[BLOCKS_]] or values_[BLOCKS_] or '', {}, till_
    at_ = 1
    while at_ + 8 <= #found_ do
        local other_, size_ = struct.unpack('>I7I2', found_, at_)
        if other_ > now and at_ + 8 + size_ <= #found_ then
            all_[#all_ + 1] = found_:sub(at_, at_ + 8 + size_)
            last_ = math.max(last_, other_)
        end
        at_ = at_ + 9 + size_
    end
    all_[#all_ + 1] = struct.pack('>I7I2', till_, #policy_) .. policy_
    if not put_(keys_[BLOCKS_], table.concat(all_), now, last_ - now) then
        till_, length_ = 0, 0
    end
end
--[end]
penalties_ = penalties_ .. struct.pack('>dd', till_, length_)

--- save
--[if LASTS_]
if lasting then
    local state
--[section_ state]
    if state then
        redis.call('SET', key, state, 'KEEPTTL')
    end
--[if REREADS_]
    written_[key] = state or redis.call('MGET', key)[1]
--[end]
else
--[end]
local ttl = 0
--[section_ ttl]
if ttl > 0 then
    local state
--[section_ state]
--[if CUSTOM_CLOCK_]
    -- The server's clock does not follow a custom clock.
    local expiry_ = math.ceil(ttl / 1000)
    if expiry_ < 60000 then
        expiry_ = 60000
    end
    if state then
        redis.call('SET', key, state, 'PX', expiry_)
    else
        redis.call('PEXPIRE', key, expiry_)
    end
--[else]
    -- An absolute time: a remaining time would be rounded up again with each refund. Redis takes longer to write a number.
    local expiry_ = string.format('%d', (now + ttl + 999) / 1000)
    if state then
        redis.call('SET', key, state, 'PXAT', expiry_)
    else
        redis.call('PEXPIREAT', key, expiry_)
    end
--[end]
--[if REREADS_]
    written_[key] = state or redis.call('MGET', key)[1]
--[end]
else
    redis.call('DEL', key)
--[if REREADS_]
    written_[key] = false
--[end]
end
--[if LASTS_]
end
--[end]
