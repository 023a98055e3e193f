-- concurrent-calls: the calls that run, each until it is removed or its lease ends.
--
-- State, 13 bytes for each call and cost of 1, by ascending end of the lease: this end in microseconds (7 bytes), and the number of
-- the call (6 bytes). Decisions read only the entries whose leases have ended and the one to wait for.
--
-- @slot calls, count

--- functions
-- Returns the calls without the newest entries of one of them, and how many these are.
local function without(calls, call, most)
    local number, found, at = struct.pack('>I6', call), {}, 1
    repeat
        at = string.find(calls, number, at, true)
        if at and at % 13 == 8 then
            found[#found + 1] = at
        end
        at = at and at + 1
    until not at
    local first = #found > most and #found - most + 1 or 1
    local kept, from = {}, 1
    for i = first, #found do
        kept[#kept + 1] = string.sub(calls, from, found[i] - 8)
        from = found[i] + 6
    end
    kept[#kept + 1] = string.sub(calls, from)
    return table.concat(kept), #found - first + 1
end

--- load
calls, count = '', 0
if state and #state % 13 == 0 then
    local ended, last = 0, #state / 13
    while ended < last and struct.unpack('>I7', state, 13 * ended + 1) <= now do
        ended = ended + 1
    end
    local present = last
    while present > ended and struct.unpack('>I7', state, 13 * present - 12) > now + LONGEST do
        present = present - 1
    end
    calls, count = state:sub(13 * ended + 1, 13 * present), last - ended
    if present > ended and struct.unpack('>I7', calls) > now + LONGEST then
        -- The state is damaged: it is not in order.
        calls, count, corrected = '', 0, true
    elseif present < last then
        -- The clock was set back.
        local kept = { calls }
        for k = present + 1, last do
            kept[#kept + 1] = struct.pack('>I7', now + LONGEST) .. state:sub(13 * k - 5, 13 * k)
        end
        calls, corrected = table.concat(kept), true
    end
end

--- wait
local excess = count + cost - QUOTA
if excess > 0 then
    wait = struct.unpack('>I7', calls, 13 * excess - 12) - now
    -- Kept in range if the state is damaged.
    if wait > WINDOW then
        wait = WINDOW
    elseif wait < 1 then
        wait = 1
    end
end

--- add
local more = cost
--[if CHARGE]
if call > 0 then
    local renewed
    calls, renewed = without(calls, call, count)
    count = count - renewed
end
-- As many entries as two of the largest quotas.
if more > 2000 - count then
    more = count < 2000 and 2000 - count or 0
end
--[end]
calls, count = calls .. struct.pack('>I7I6', now + LONGEST, call):rep(more), count + more

--- refund
local removed
calls, removed = without(calls, call, cost)
count = count - removed

--- remaining
if count < QUOTA then
    remaining = QUOTA - count
end

--- ttl
if count > 0 then
    ttl = struct.unpack('>I7', calls, #calls - 12) - now
end

--- state
state = calls
