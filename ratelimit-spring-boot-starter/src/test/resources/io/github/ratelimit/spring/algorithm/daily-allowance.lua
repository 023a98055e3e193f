-- daily-allowance: a quota for each day, which is new at the same hour.
--
-- Constants: START (when the day begins, in microseconds after midnight).
-- State: end of the day in microseconds (7 bytes), count (7 bytes).
--
-- @slot finish, count

--- load
finish, count = now - (now - START) % LONGEST + LONGEST, 0
if state and #state == 14 then
    local stored_finish, stored_count = struct.unpack('>I7I7', state)
    if stored_finish > now then
        -- If that is later than today, the clock was set back.
        corrected = stored_finish > finish
        count = stored_count
    end
end

--- wait
if QUOTA - count < cost then
    wait = finish - now
end

--- add
count = math.min(count + cost, 2 ^ 53 - 1)

--- refund
--[if CANCEL]
-- What was used yesterday is not part of the count.
if since >= finish - LONGEST then
--[end]
count = math.max(0, count - cost)
--[if CANCEL]
end
--[end]

--- remaining
remaining = math.max(0, QUOTA - count)

--- ttl
if count > 0 then
    ttl = finish - now
end

--- state
state = struct.pack('>I7I7', finish, count)
