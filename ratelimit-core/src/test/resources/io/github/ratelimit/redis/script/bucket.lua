-- bucket: a count that never ends, in a file with the name of one of the library.
--
-- State: count.
--
-- @slot taken

--- load
taken = tonumber(state or 0)

--- wait
if taken + cost > QUOTA then
    wait = WINDOW
end

--- add
taken = taken + cost

--- refund
taken = taken - cost

--- remaining
remaining = QUOTA - taken

--- ttl
--[each limit]
ttl = math.max(ttl, WINDOW)
--[end]

--- state
state = tostring(taken)
