-- sliding-log and sliding-window: one log of the allowed requests for all limits.
-- Constants: WIDTH (bytes of an entry); TOTALS (modulus of the totals of entries); METADATA (1: it is kept); SHARED (1: requests
-- of the same time share an entry); PRECISION (length of sub-windows in microseconds, whose end is the time of an entry; 0: the
-- time of the request); CAPACITY (if there are more entries, those of the same sub-window are merged; 0: never); PIECES (1: the
-- quotas permit a state larger than 16 KB).
-- State: number of dropped entries (4 bytes). Then 10 bytes for each entry, from the oldest to the newest: time in microseconds
-- (7 bytes), running total of all costs up to and including it, modulo 2^24 (3 bytes). If requests share entries, quotas are
-- larger, and totals are modulo 2^40 (5 bytes). The first entry that is not dropped is the base: its totals count, its time does
-- not. With metadata, the state begins with the number of entries (4 bytes), each entry also has the running length of all
-- metadata, modulo 2^32 (4 bytes), and all metadata is at the end.
-- If a state is larger than 16 KB, a decision reads only the pieces that it needs, and adds requests in place: the log is then a
-- table of pieces of 64 entries, with the Redis key; otherwise it is a string with all bytes. It is rewritten when more than half
-- of it is dropped, and by rare operations.
-- The main costs of a decision are reading entries and creating functions. The base, the first entry after it and the newest one
-- are therefore read together; others are read only if something has left a window, or the oldest request does not make enough
-- room. Code that every decision executes is not in functions.
-- For each limit: the newest entry that has left the window (base), the cost after it (used), the time of the entry after it
-- (oldest), and the cost after that one (left).
--
-- @slot log, offset, last, newest, total, text, present
-- @limit base, used, oldest, left

--- functions
-- FIRST is the header, the base, and the entry after it.
--[if METADATA]
local FORM, FIRST = '>I7I3I4', '>I4I7I3I4I7I3'
--[else]
--[if SHARED]
local FORM, FIRST = '>I7I5', '>I4I7I5I7I5'
--[else]
local FORM, FIRST = '>I7I3', '>I4I7I3I7I3'
--[end]
--[end]

--[if PIECES]
-- Returns the number of the piece with an entry, and the position of the entry in it.
local function piece_of(offset, k)
    local number = (offset - 4) / WIDTH + k
    return (number - number % 64) / 64, WIDTH * (number % 64) + 1
end

-- Returns all bytes of a log that are not dropped.
local function read_whole(log, offset)
    if type(log) == 'table' then
        return '\0\0\0\0' .. redis.call('GETRANGE', log.place, offset, -1), 4
    end
    return log, offset
end

-- Returns the log at a Redis key, whatever its value; its size, and the number of dropped entries.
local function read_log(place)
    -- A key of another type has no length.
    local size = redis.pcall('STRLEN', place)
    if type(size) == 'table' then
        if string.sub(size.err, 1, 9) ~= 'WRONGTYPE' then
            error(size.err)
        end
        size = 0
    end
    if size < 4 then
        return '', size, 0
    elseif size <= 16384 then
        local log = redis.call('GETRANGE', place, 0, -1)
        return log, size, (struct.unpack('>I4', log))
    end
    return { place = place }, size, (struct.unpack('>I4', redis.call('GETRANGE', place, 0, 3)))
end
--[end]

-- Returns time, total and length of the metadata of an entry.
local function entry(log, offset, k)
--[if PIECES]
    if type(log) == 'table' then
        local piece, at = piece_of(offset, k)
        local bytes = log[piece]
        if not bytes then
            local from = 4 + WIDTH * 64 * piece
            bytes = redis.call('GETRANGE', log.place, from, from + WIDTH * 64 - 1)
            log[piece] = bytes
        end
        return struct.unpack(FORM, bytes, at)
    end
--[end]
    return struct.unpack(FORM, log, offset + WIDTH * k + 1)
end

-- Returns the first entry between low and high that is later than a time, and after which at most a given cost was used; high if
-- there is none. Also returns its time and total, and the total of the entry before it, if these were read. It searches in growing
-- steps from low, or back from high if the first step is negative, and then by bisection. The nearer the entry, the fewer entries
-- are read. A function that each script creates but rarely calls is cheap if it refers to nothing outside; this is why
-- struct.unpack is a parameter.
local function find(read, log, offset, low, high, step, moment, total, most)
    local time, sum, sum_before
    while high - low > 1 do
        local at = step > 0 and low + step or high + step
        if at >= high or at <= low then
            at = (low + high - (low + high) % 2) / 2
        end
--[if PIECES]
        local time_at, sum_at = entry(log, offset, at)
--[else]
--[if SHARED]
        local time_at, sum_at = read('>I7I5', log, offset + WIDTH * at + 1)
--[else]
        local time_at, sum_at = read('>I7I3', log, offset + WIDTH * at + 1)
--[end]
--[end]
        if time_at > moment and (total - sum_at) % TOTALS <= most then
            high, time, sum = at, time_at, sum_at
            step = step < 0 and 4 * step or high
        else
            low, sum_before = at, sum_at
            step = step > 0 and 4 * step or -high
        end
    end
    return high, time, sum, sum_before
end

--[if METADATA]
-- Returns the end of the metadata of an entry in the text.
local function text_end(log, offset, k)
    local _, _, length = entry(log, offset, k)
    local _, _, before = entry(log, offset, 0)
    return (length - before) % 2 ^ 32
end
--[end]

--[if PIECES]
-- Makes an entry the base of a log.
local function forget(log, offset, last, k)
    local forgotten = (offset - 4) / WIDTH + k
    offset, last = offset + WIDTH * k, last - k
    if k > 0 and type(log) == 'table' then
        if forgotten > last then
            log, offset = read_whole(log, offset)
        else
            redis.call('SETRANGE', log.place, 0, struct.pack('>I4', forgotten))
        end
    end
    return log, offset, last
end

-- Writes an entry in place.
local function put(log, offset, k, bytes)
    local piece, at = piece_of(offset, k)
    redis.call('SETRANGE', log.place, offset + WIDTH * k, bytes)
    log[piece] = log[piece] and string.sub(log[piece], 1, at - 1) .. bytes .. string.sub(log[piece], at + WIDTH)
end
--[end]

-- Removes the most recent cost up to an entry from the log. Later requests keep their times, because otherwise they would leave
-- the window too soon.
local function take_out(log, offset, last, total, text, upto, back, present)
    local _, sum_upto = entry(log, offset, upto)
    local after = (total - sum_upto) % TOTALS
    local newest = find(struct.unpack, log, offset, -1, last + 1, 1, -1, total, after + back)
    -- Not later than now, even if the log is damaged.
    local time, _, length = entry(log, offset, newest)
    local entries = { '\0\0\0\0', log:sub(offset + 1, offset + WIDTH * newest),
        struct.pack(FORM, time < present and time or present, (total - back - after) % TOTALS, length) }
    local less = 0
--[if METADATA]
    less = text_end(log, offset, upto) - text_end(log, offset, newest)
    text = text:sub(1, text_end(log, offset, newest)) .. text:sub(text_end(log, offset, upto) + 1)
--[end]
    for k = upto + 1, last do
        local later, sum, ends = entry(log, offset, k)
        entries[#entries + 1] = struct.pack(FORM, later, (sum - back) % TOTALS, ((ends or 0) - less) % 2 ^ 32)
    end
    return table.concat(entries), 4, newest + #entries - 3, total - back, text
end

--- load
local _, entries, number, base_sum, time, sum
--[if PRECISION]
present = now - now % PRECISION + PRECISION
--[else]
present = now
--[end]
offset, last = 4, 0
--[if PIECES]
log, entries, number = read_log(key)
entries = (entries - 4) / WIDTH
if number < entries and entries % 1 == 0 then
    offset, last = 4 + WIDTH * number, entries - number - 1
end
if last > 0 then
    _, base_sum = entry(log, offset, 0)
    time, sum = entry(log, offset, 1)
    newest, total = entry(log, offset, last)
end
--[else]
log = state or ''
entries = (#log - 4) / WIDTH
--[if METADATA]
local length
text = ''
if entries >= 2 then
    number, _, base_sum, length, time, sum = struct.unpack(FIRST, log)
    if number >= 2 and number <= entries then
        log, text, last = log:sub(1, 4 + WIDTH * number), log:sub(5 + WIDTH * number), number - 1
    end
end
--[else]
if entries >= 2 and entries % 1 == 0 then
    number, _, base_sum, time, sum = struct.unpack(FIRST, log)
    last = entries - number - 1
    if number > 0 and last > 0 then
        -- It was written in pieces.
        offset = 4 + WIDTH * number
        _, _, base_sum, time, sum = struct.unpack(FIRST, log, offset - 3)
    end
end
--[end]
if last > 0 then
    newest, total, _ = struct.unpack(FORM, log, offset + WIDTH * last + 1)
end
--[end]
-- No log, or a damaged one, or all of it has left the longest window.
if last < 1 or newest <= now - LONGEST
--[if METADATA]
    or (_ - length) % 2 ^ 32 ~= #text
--[end]
then
    log, offset, last, newest, total = ('\0'):rep(4 + WIDTH), 4, 0, -LONGEST, 0
    time, text = newest, ''
end
if newest > present then
    -- The clock was set back: entries in the future are moved to now. A library function that is rarely called is not made a
    -- local, because each script would pay for that.
--[if PIECES]
    log, offset = read_whole(log, offset)
--[end]
    local future = find(struct.unpack, log, offset, 0, last + 1, 1, present, total, TOTALS)
    local later = { '\0\0\0\0', log:sub(offset + 1, offset + WIDTH * future) }
    for k = future, last do
        local _, sum_at, length_at = struct.unpack(FORM, log, offset + WIDTH * k + 1)
        later[#later + 1] = struct.pack(FORM, present, sum_at, length_at)
    end
    log, offset = table['concat'](later), 4
    newest, corrected = present, true
    if time > present then
        time = present
    end
end
-- Requests of a sub-window have the same time.
lasting = newest == present and not corrected
-- The base of a longer window is never after that of a shorter one.
local high, time_high, sum_high = last, newest, total
--[each limit]
if time > now - WINDOW then
    base, used, oldest, left = 0, total - base_sum, time, total - sum
elseif newest > now - WINDOW then
    local sum_before, found, sum_found
    -- Few entries have left the longest window, and few are in a shorter one.
    high, found, sum_found, sum_before = find(struct.unpack, log, offset, 1, high, INDEX < LIMITS and -8 or 1, now - WINDOW,
        total, TOTALS)
    time_high, sum_high = found or time_high, sum_found or sum_high
    base, used, oldest, left = high - 1, total - (sum_before or sum), time_high, total - sum_high
else
    base, used, left = last, 0, 0
end
-- Both are totals, which wrap around to 0.
if used < 0 then
    used = used + TOTALS
end
if left < 0 then
    left = left + TOTALS
end
--[end]

--- wait
if QUOTA - used < cost then
    local time = oldest
    if left > QUOTA - cost then
        local _
        _, time = find(struct.unpack, log, offset, base, last, 1, -1, total, QUOTA - cost)
        time = time or newest
    end
    wait = time + WINDOW - now
    -- Kept in range if the log is damaged.
    if wait > WINDOW + present - now then
        wait = WINDOW + present - now
    elseif wait < 1 then
        wait = 1
    end
end

--- add
-- How much to keep when a denied request makes the log exceed the quotas.
-- It is the largest quota, because older entries do not affect decisions. But it is never less than was used before, because other
-- requests of the same log may have larger quotas: those of another plan, or from before a change. The newest entries replace the
-- oldest, so no period up to now holds less than before, and no request is admitted beyond its own quota. The log never holds more
-- than the largest quota that was used for it.
-- A charge keeps as much again as the largest quota, because it may be refunded.
local keep, moved
--[last limit]
keep, moved = used, base
--[end]
--[each limit]
--[if CHARGE]
if keep < 2 * QUOTA then
    keep = 2 * QUOTA
end
--[else]
if keep < QUOTA then
    keep = QUOTA
end
--[end]
--[end]
local changed
--[last limit]
changed = used + cost > keep
--[end]
-- Entries that have left the longest window are dropped.
--[if METADATA]
local _, length, base_length
_, _, base_length = struct.unpack(FORM, log, offset + 1)
_, _, length = struct.unpack(FORM, log, offset + WIDTH * last + 1)
if moved > 0 then
    local before = base_length
    _, _, base_length = struct.unpack(FORM, log, offset + WIDTH * moved + 1)
    text = text:sub((base_length - before) % 2 ^ 32 + 1)
end
length, text = length + #metadata, text .. metadata
--[else]
local length
--[end]
--[if PIECES]
log, offset, last = forget(log, offset, last, moved)
--[else]
offset, last = offset + WIDTH * moved, last - moved
--[end]
local k = last + 1
--[if SHARED]
if newest == present then
    k = last
end
--[end]
total, newest = total + cost, present
local bytes = struct.pack(FORM, present, total, length)
--[if PIECES]
if type(log) == 'table' then
    put(log, offset, k, bytes)
else
--[end]
if offset == 4 and k > last then
    log = log .. bytes
else
    log, offset = '\0\0\0\0' .. log:sub(offset + 1, offset + WIDTH * k) .. bytes, 4
end
--[if PIECES]
end
--[end]
last = k
if changed then
    -- The total after the new base is what is to be kept.
    local first, _, sum = find(struct.unpack, log, offset, 0, last, 1, -1, total, keep)
    if (total - (sum or total)) % TOTALS < keep then
        first = first - 1
    end
--[if METADATA]
    _, _, length = struct.unpack(FORM, log, offset + WIDTH * first + 1)
    text = text:sub((length - base_length) % 2 ^ 32 + 1)
--[end]
    bytes = struct.pack(FORM, 0, (total - keep) % TOTALS, length)
--[if PIECES]
    log, offset, last = forget(log, offset, last, first)
    first = 0
    if type(log) == 'table' then
        put(log, offset, 0, bytes)
    else
--[end]
    log, offset, last = '\0\0\0\0' .. bytes .. log:sub(offset + WIDTH * (first + 1) + 1), 4, last - first
--[if PIECES]
    end
--[end]
end
--[if CAPACITY]
if last > CAPACITY then
    -- Leaves out entries that are in the same sub-window as the next entry. A sub-window is a sixtieth of the shortest window that
    -- contains both entries. Longer sub-windows consist of whole shorter ones, so that no request is counted too long by more than
    -- one sub-window. If only one of two entries has left a window, both are kept.
    local windows, sizes, size = { each(WINDOW) }, {}, 1
    for i = 1, LIMITS do
        size = (windows[i] - windows[i] % (60 * size)) / 60
        sizes[i] = size
    end
    local kept, later = { '\0\0\0\0', log:sub(offset + 1, offset + WIDTH) }, 0
    for i = LIMITS, 1, -1 do
        local at = later + 1
        later = i > 1 and find(struct.unpack, log, offset, later, last + 1, 1, now - windows[i - 1], 0, TOTALS) - 1 or last
        local time = at <= later and struct.unpack(FORM, log, offset + WIDTH * at + 1)
        while at <= later do
            local next_time = at < later and struct.unpack(FORM, log, offset + WIDTH * (at + 1) + 1)
            if not next_time or time - time % sizes[i] ~= next_time - next_time % sizes[i] then
                kept[#kept + 1] = log:sub(offset + WIDTH * at + 1, offset + WIDTH * (at + 1))
            end
            at, time = at + 1, next_time
        end
    end
    log, offset, last, changed = table['concat'](kept), 4, #kept - 2, true
end
--[end]
--[each limit]
used = used + cost
if changed then
    -- What is the oldest now is sought when it is asked for.
    if used > keep then
        used = keep
    end
    base, left = 0, used
else
    base, left = base - moved, left + cost
    if base + 1 == last then
        oldest, left = present, 0
    end
end
--[end]

--- refund
-- The most recent cost, or the most recent cost up to a given time.
local upto, back = last, cost
--[if PIECES]
log, offset = read_whole(log, offset)
--[end]
--[if CANCEL]
--[if PRECISION]
upto = find(struct.unpack, log, offset, -1, last + 1, 1, since - since % PRECISION + PRECISION, total, TOTALS) - 1
--[else]
upto = find(struct.unpack, log, offset, -1, last + 1, 1, since, total, TOTALS) - 1
--[if CAPACITY]
-- It may have been merged with later entries of its sub-window.
if upto < last and (upto < 1 or entry(log, offset, upto) < since) then
    local windows = { each(WINDOW) }
    local size, time = (windows[1] - windows[1] % 60) / 60, entry(log, offset, upto + 1)
    if since - since % size == time - time % size then
        upto = upto + 1
    end
end
--[end]
--[end]
--[end]
local most = 0
--[last limit]
most = used
--[end]
--[if CANCEL]
local _, sum_upto = 0, total
if upto >= 0 then
    _, sum_upto = entry(log, offset, upto)
end
most = upto < 0 and 0 or most - (total - sum_upto) % TOTALS
--[end]
if back > most then
    back = most
end
if back > 0 then
    log, offset, last, total, text = take_out(log, offset, last, total, text, upto, back, present)
    newest = entry(log, offset, last)
--[each limit]
--[if CANCEL]
    local sum
    base = find(struct.unpack, log, offset, 0, last + 1, 1, now - WINDOW, total, TOTALS) - 1
    _, sum = entry(log, offset, base)
    used = (total - sum) % TOTALS
--[else]
    used = used > back and used - back or 0
--[end]
    -- What is the oldest now is sought when it is asked for.
    left = used
--[end]
end

--- remaining
if used < QUOTA then
    remaining = QUOTA - used
end

--- ttl
--[last limit]
if used > 0 then
    ttl = newest + LONGEST - now
end
--[end]

--- state
--[if METADATA]
state = struct.pack('>I4', last + 1) .. log:sub(5) .. text
--[else]
--[if PIECES]
-- Pieces are already written to Redis.
if type(log) == 'string' then
    state = log
end
--[else]
state = log
--[end]
--[end]

--- history
local from = find(struct.unpack, log, offset, 0, last + 1, 1, now - LONGEST, total, TOTALS)
local newest_read = math.max(from, (find(struct.unpack, log, offset, 0, last + 1, 1, before - 1, total, TOTALS))) - 1
local least = math.max(from, newest_read - most + 1)
if least > from then
    local time = entry(log, offset, least)
    if time == entry(log, offset, least - 1) and time < entry(log, offset, newest_read) then
        -- Not all entries of that time would fit.
        least = find(struct.unpack, log, offset, least - 1, last + 1, 1, time, total, TOTALS)
    end
end
for k = newest_read, least, -1 do
    local time, sum = entry(log, offset, k)
    local _, sum_before = entry(log, offset, k - 1)
    history[#history + 1] = time < present and time or present
    history[#history + 1] = (sum - sum_before) % TOTALS
--[if METADATA]
    history[#history + 1] = text:sub(text_end(log, offset, k - 1) + 1, text_end(log, offset, k))
--[else]
    history[#history + 1] = ''
--[end]
end
