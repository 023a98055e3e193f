-- fixed-window and first-request-window: counters of windows.
-- Constants: ALIGNED (1: to the epoch; 0: windows begin with the first request), PAST (number of past windows to keep); for
-- each limit ARGUMENTS (for windows that begin at midnight: five ends around the current time, ascending; if past ones are
-- kept, how long before the end of the current one they may have ended).
-- State, 14 bytes for each kept window, for each limit from the current one to the oldest: end of the window in
-- microseconds (7 bytes), count (7 bytes).
--
-- @limit start, finish, count, windows
-- @argument end1, end2, end3, end4, end5, span

--- functions
local MAX_COUNT = 2 ^ 53 - 1

--[if ARGUMENTS]
-- By how much windows may be longer than the nominal length, in microseconds: days may have 21 to 27 hours in some zones.
local UNEVEN = 3 * 3600000000

-- Returns the start and the end of the current window that begins at midnight.
local function find_window(now, length, end1, end2, end3, end4, end5)
    local ends = { end1, end2, end3, end4, end5 }
    for e = 2, 5 do
        local start, finish = ends[e - 1], ends[e]
        -- The ends are from another clock, which may be far off.
        if start <= now and now < finish and finish - now <= length + UNEVEN then
            return start, finish
        end
    end
    local start = now - now % length
    return start, start + length
end
--[end]

--[if PAST]
-- Windows are a list: end and count of the current one, end and count of the previous one, and so on.
local function read_windows(state, from)
    local windows = {}
    for k = 1, 2 * PAST + 1, 2 do
        windows[k], windows[k + 1] = struct.unpack('>I7I7', state, from)
        from = from + 14
        if windows[k + 1] > MAX_COUNT then
            windows[k + 1] = MAX_COUNT
        end
    end
    return windows
end

-- Removes an unused window. A kept window replaces it, and may be the current one if the clock was set back.
local function drop_unused(windows)
    local used = 1
    for k = 1, 2 * PAST + 1, 2 do
        if windows[k + 1] > 0 then
            windows[used], windows[used + 1] = windows[k], windows[k + 1]
            used = used + 2
        end
    end
    for k = used, 2 * PAST + 2 do
        windows[k] = 0
    end
end

local function begin(windows, finish)
    for k = 2 * PAST + 2, 3, -1 do
        windows[k] = windows[k - 2]
    end
    windows[1], windows[2] = finish, 0
end

-- Drops windows that are too old, and those in the future after a clock change. Returns whether there were any.
local function forget(windows, finish)
    local corrected = false
    for k = 3, 2 * PAST + 1, 2 do
        local ahead = windows[k] >= windows[1]
        corrected = corrected or ahead
        if ahead or windows[k] <= finish then
            windows[k], windows[k + 1] = 0, 0
        end
    end
    return corrected
end

local function ttl_of(windows, kept, now)
    local ttl = 0
    for k = 1, 2 * PAST + 1, 2 do
        if windows[k + 1] > 0 then
            ttl = math.max(ttl, windows[k] + kept - now)
        end
    end
    return ttl
end

local function write_windows(windows)
    local packed = {}
    for k = 1, PAST + 1 do
        packed[k] = struct.pack('>I7I7', windows[2 * k - 1], windows[2 * k])
    end
    return table.concat(packed)
end
--[end]

--- load
each(finish, count) = each(0, 0)
lasting = true
--[if PAST]
local stored = state and #state == 14 * (PAST + 1) * LIMITS
--[each limit]
windows = read_windows(stored and state or string.rep('\0', 14 * (PAST + 1) * LIMITS), 14 * (PAST + 1) * (INDEX - 1) + 1)
if windows[2] == 0 then
    drop_unused(windows)
end
finish, count = windows[1], windows[2]
--[end]
--[else]
if state and #state == 14 * LIMITS then
    each(finish, count) = struct.unpack('>each(I7I7)', state)
end
--[end]
--[each limit]
if count > MAX_COUNT then
    count = MAX_COUNT
end
local present_end
--[if ARGUMENTS]
start, present_end = find_window(now, WINDOW, end1, end2, end3, end4, end5)
--[else]
--[if ALIGNED]
start = now - now % WINDOW
--[else]
start = now
--[end]
present_end = start + WINDOW
--[end]
if count == 0 then
    finish = present_end
else
--[if ARGUMENTS]
    if finish > present_end and finish > now + WINDOW + UNEVEN then
--[else]
    if finish > present_end and finish > now + WINDOW then
--[end]
        -- The clock was set back: the count lasts one window, not until the clock catches up.
        finish = now + WINDOW
        corrected = true
    end
    if finish <= now then
        -- A corrected window does not end where another starts. The next one has the full length, because otherwise three
        -- quotas would fit into one window.
        finish = finish > start and finish + WINDOW or present_end
        count = 0
--[if PAST]
        begin(windows, finish)
--[end]
    end
end
if finish ~= present_end then
    start = finish - WINDOW
end
--[if PAST]
windows[1] = finish
--[if ARGUMENTS]
if forget(windows, finish - span) then
--[else]
if forget(windows, finish - (PAST + 1) * WINDOW) then
--[end]
    corrected = true
end
--[end]
-- A window that something has used ends when it did before.
lasting = lasting and count > 0 and not corrected
--[end]

--- wait
if QUOTA - count < cost then
    wait = finish - now
end

--- add
--[each limit]
count = count + cost
if count > MAX_COUNT then
    count = MAX_COUNT
end
--[if PAST]
windows[2] = count
--[end]
--[end]

--- refund
--[each limit]
--[if CANCEL]
-- A cost before the current window is not part of it.
if since >= start then
--[end]
count = count > cost and count - cost or 0
--[if CANCEL]
end
--[end]
--[if PAST]
windows[2] = count
--[end]
--[end]

--- remaining
if count < QUOTA then
    remaining = QUOTA - count
end

--- ttl
--[each limit]
--[if PAST]
--[if ARGUMENTS]
ttl = math.max(ttl, ttl_of(windows, PAST * WINDOW + UNEVEN, now))
--[else]
ttl = math.max(ttl, ttl_of(windows, PAST * WINDOW, now))
--[end]
--[else]
if count > 0 and finish - now > ttl then
    ttl = finish - now
end
--[end]
--[end]

--- state
--[if PAST]
state = ''
--[each limit]
state = state .. write_windows(windows)
--[end]
--[else]
state = struct.pack('>each(I7I7)', each(finish, count))
--[end]

--- history
-- For each window in which something was used, by limit and from the newest to the oldest: limit, end, count.
--[each limit]
--[if PAST]
for k = 1, 2 * PAST + 1, 2 do
    if windows[k + 1] > 0 then
        history[#history + 1] = INDEX - 1
        history[#history + 1] = windows[k]
        history[#history + 1] = windows[k + 1]
    end
end
--[else]
if count > 0 then
    history[#history + 1] = INDEX - 1
    history[#history + 1] = finish
    history[#history + 1] = count
end
--[end]
--[end]
