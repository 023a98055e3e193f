-- quiet-period: a count that is forgotten after a window without requests.
--
-- Constants: EXTRA (how much more than the quota is allowed).
-- State: time of the last request, count.
--
-- @limit last, count

--- functions
local function require_sound(count)
    if count > 1000 then
        error('a damaged count')
    end
end

--- load
each(last, count) = each(0, 0)
if state and #state == 14 * LIMITS then
    each(last, count) = struct.unpack('>each(I7I7)', state)
end
--[each limit]
require_sound(count)
if last <= now - WINDOW then
    last, count = now, 0
end
--[end]

--- wait
--[if EXTRA]
if count + cost > QUOTA + EXTRA then
--[else]
if count + cost > QUOTA then
--[end]
    wait = last + WINDOW - now
end

--- add
--[each limit]
last, count = now, count + cost
--[end]

--- refund
--[each limit]
count = math.max(0, count - cost)
--[end]

--- remaining
remaining = math.max(0, QUOTA + EXTRA - count)

--- ttl
--[each limit]
if count > 0 then
    ttl = math.max(ttl, last + WINDOW - now)
end
--[end]

--- state
state = struct.pack('>each(I7I7)', each(last, count))
