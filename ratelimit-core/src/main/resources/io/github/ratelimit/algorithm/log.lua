-- sliding-log and sliding-window: one log of the allowed requests for all limits.
--
-- Constants: WIDTH (bytes of an entry); TOTALS (the totals of entries are modulo this); METADATA (1: it is kept); SHARED (1:
-- requests of the same time share an entry); PRECISION (length of sub-windows in microseconds, with whose end requests are
-- entered; 0: with their own time); CAPACITY (when there are more entries, those of a sub-window are merged; 0: never); PIECES
-- (1: by its quotas the state may be larger than 16 KB).
-- State: how many entries have been forgotten (4 bytes). Then 10 bytes for each entry, from the oldest to the newest: time
-- in microseconds (7 bytes), running total of all costs up to and including it, modulo 2^24 (3 bytes). Where requests
-- share entries, quotas are larger, and totals modulo 2^40 (5 bytes). The first entry that is not forgotten is the base:
-- its totals count, its time does not.
-- Where metadata is kept, the number of entries stands first (4 bytes), each entry has the running length of all metadata
-- as well, modulo 2^32 (4 bytes), and all metadata stands last.
--
-- Of a state larger than 16 KB only those pieces are read that a decision looks at, and requests are entered in place: then
-- the log is a table of pieces of 64 entries, with the Redis key, and otherwise a string with all bytes. It is written
-- anew when more is forgotten than not, and by what is rare.
--
-- @slot log, offset, last, newest, total, text, present
-- @limit base, used

--- functions
--[if METADATA]
local FORM = '>I7I3I4'
--[else]
--[if SHARED]
local FORM = '>I7I5'
--[else]
local FORM = '>I7I3'
--[end]
--[end]

local function pack(time, sum, length)
--[if METADATA]
    return struct.pack(FORM, time, sum % TOTALS, length % 2 ^ 32)
--[else]
    return struct.pack(FORM, time, sum % TOTALS)
--[end]
end

--[if PIECES]
-- The piece with an entry: its number, and where in it the entry stands.
local function piece_of(offset, k)
    local number = (offset - 4) / WIDTH + k
    return (number - number % 64) / 64, WIDTH * (number % 64) + 1
end

-- All bytes of a log that are not forgotten.
local function read_whole(log, offset)
    if type(log) == 'table' then
        return '\0\0\0\0' .. redis.call('GETRANGE', log.place, offset, -1), 4
    end
    return log, offset
end

-- The log at a Redis key, whatever that holds; its size, and how many entries have been forgotten.
local function read_log(place)
    -- Of a key of another type there is no length.
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

-- Time, total and length of the metadata of an entry.
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

-- First entry that came after a moment; or, without one, after which no more was used than so much; and its time. One
-- past the last if there is none. The older it is, the fewer entries are looked at.
local function first(log, offset, last, low, moment, total, most)
    local high, step, found = low, 1, nil
    while low <= last and (not found or low < high) do
        -- Until one is found it is sought ever further on, and then between.
        local at = high
        if found then
            at = (low + high - (low + high) % 2) / 2
        elseif at > last then
            at = last
        end
        local time, sum = entry(log, offset, at)
        local is
        if moment then
            is = time > moment
        else
            is = (total - sum) % TOTALS <= most
        end
        if is then
            high, found = at, time
        else
            low = at + 1
            if not found then
                high, step = at + step, 2 * step
            end
        end
    end
    return low, found
end

-- What was used after an entry.
local function used_after(log, offset, k, total)
    local _, sum = entry(log, offset, k)
    return (total - sum) % TOTALS
end

--[if METADATA]
-- Where the metadata of an entry ends in the text.
local function text_end(log, offset, k)
    local _, _, length = entry(log, offset, k)
    local _, _, before = entry(log, offset, 0)
    return (length - before) % 2 ^ 32
end
--[end]

-- Replaces the entries from one on; in pieces the last one only, or appends one.
local function put(log, offset, k, entries)
    local from = offset + WIDTH * k
--[if PIECES]
    if type(log) == 'table' then
        local piece, at = piece_of(offset, k)
        redis.call('SETRANGE', log.place, from, entries)
        log[piece] = log[piece] and string.sub(log[piece], 1, at - 1) .. entries
        return log, offset
    end
--[end]
    if offset == 4 and #log == from then
        return log .. entries, 4
    end
    return '\0\0\0\0' .. string.sub(log, offset + 1, from) .. entries, 4
end

-- Makes an entry the base of the log.
local function forget(log, offset, last, text, base)
    if base > 0 then
--[if METADATA]
        text = string.sub(text, text_end(log, offset, base) + 1)
--[end]
        offset, last = offset + WIDTH * base, last - base
--[if PIECES]
        if type(log) == 'table' then
            local forgotten = (offset - 4) / WIDTH
            if forgotten > last then
                log, offset = read_whole(log, offset)
            else
                redis.call('SETRANGE', log.place, 0, struct.pack('>I4', forgotten))
            end
        end
--[end]
    end
    return log, offset, last, text
end

-- Makes the base that what was used after it is no more than is kept.
local function cut(log, offset, last, total, text, keep)
    local k = first(log, offset, last, 0, nil, total, keep)
    k = used_after(log, offset, k, total) == keep and k or k - 1
    log, offset, last, text = forget(log, offset, last, text, k)
    local _, _, length = entry(log, offset, 0)
    local base = pack(0, total - keep, length)
--[if PIECES]
    if type(log) == 'table' then
        redis.call('SETRANGE', log.place, offset, base)
        log[piece_of(offset, 0)] = nil
        return log, offset, last, text
    end
--[end]
    return '\0\0\0\0' .. base .. string.sub(log, offset + WIDTH + 1), 4, last, text
end

--[if CAPACITY]
-- Leaves out entries that are in the same sub-window as the next one: a sixtieth of the shortest window that both are in.
-- Longer sub-windows consist of whole shorter ones, so that no request is ever counted for longer than one of them too
-- long. If one of two entries has left a window, and the other one has not, both stay.
local function merge(log, offset, last, now, windows)
    local sizes, size = {}, 1
    for i = 1, #windows do
        size = (windows[i] - windows[i] % (60 * size)) / 60
        sizes[i] = size
    end
    local kept, later = { '\0\0\0\0', string.sub(log, offset + 1, offset + WIDTH) }, 0
    for i = #windows, 1, -1 do
        local k = later + 1
        later = i > 1 and first(log, offset, last, k, now - windows[i - 1]) - 1 or last
        local time = k <= later and entry(log, offset, k)
        while k <= later do
            local next_time = k < later and entry(log, offset, k + 1)
            if not next_time or time - time % sizes[i] ~= next_time - next_time % sizes[i] then
                kept[#kept + 1] = string.sub(log, offset + WIDTH * k + 1, offset + WIDTH * (k + 1))
            end
            k, time = k + 1, next_time
        end
    end
    return table.concat(kept), 4, #kept - 2
end
--[end]

-- Takes what was used last up to an entry out of the log. Later requests stay where they are, or they would leave the
-- window too soon.
local function take_out(log, offset, last, total, text, upto, back, present)
    local after = used_after(log, offset, upto, total)
    local newest = first(log, offset, last, 0, nil, total, after + back)
    -- No later than now in a log that is damaged.
    local time, _, length = entry(log, offset, newest)
    local entries = { pack(time < present and time or present, total - back - after, length) }
    local less = 0
--[if METADATA]
    less = text_end(log, offset, upto) - text_end(log, offset, newest)
    text = string.sub(text, 1, text_end(log, offset, newest)) .. string.sub(text, text_end(log, offset, upto) + 1)
--[end]
    for k = upto + 1, last do
        local later, sum, ends = entry(log, offset, k)
        entries[#entries + 1] = pack(later, sum - back, (ends or 0) - less)
    end
    log, offset = put(log, offset, newest, table.concat(entries))
    return log, offset, newest - 1 + #entries, total - back, text
end

--- load
local size, number
offset, last, newest, total, text = 4, -1, 0, 0, ''
--[if PRECISION]
present = now - now % PRECISION + PRECISION
--[else]
present = now
--[end]
--[if PIECES]
log, size, number = read_log(key)
--[else]
log = state or ''
size = #log
number = size >= 4 and struct.unpack('>I4', log) or 0
--[end]
local entries = (size - 4) / WIDTH
--[if METADATA]
if number > 0 and number <= entries then
    text, log, last = string.sub(log, 5 + WIDTH * number), string.sub(log, 1, 4 + WIDTH * number), number - 1
end
--[else]
if number < entries and entries % 1 == 0 then
    offset, last = 4 + WIDTH * number, entries - number - 1
end
--[end]
if last >= 0 then
    newest, total = entry(log, offset, last)
end
-- None, or none that is not damaged, or all of it has left the longest window.
if last < 0 or newest <= now - LONGEST
--[if METADATA]
    or text_end(log, offset, last) ~= #text
--[end]
then
    log, offset, last, newest, total, text = '\0\0\0\0' .. pack(0, 0, 0), 4, 0, 0, 0, ''
end
if newest > present then
    -- The clock was set back: what it says came later than now came now.
--[if PIECES]
    log, offset = read_whole(log, offset)
--[end]
    local future = first(log, offset, last, 1, present)
    local later = {}
    for k = future, last do
        local _, sum, length = entry(log, offset, k)
        later[#later + 1] = pack(present, sum, length)
    end
    log, offset = put(log, offset, future, table.concat(later))
    newest, corrected = present, true
end
--[each limit]
base, used = last, 0
if newest > now - WINDOW then
    base = first(log, offset, last, 1, now - WINDOW) - 1
    used = used_after(log, offset, base, total)
end
--[end]

--- wait
if QUOTA - used < cost then
    local _, time = first(log, offset, last, base + 1, nil, total, QUOTA - cost)
    wait = (time or newest) + WINDOW - now
    -- No more and no less in a log that is damaged.
    if wait > WINDOW + present - now then
        wait = WINDOW + present - now
    elseif wait < 1 then
        wait = 1
    end
end

--- add
-- The most that is kept when a denied request makes the log hold more than anything may use.
--
-- The largest quota: what is older decides nothing. But never less than was used before, because others may have larger
-- quotas, by which it still counts: those of another plan, or of before a change. The newest of what is kept takes the
-- place of the oldest, so no stretch of time up to now holds less than it did before, and nobody is admitted beyond their
-- quota, whoever else counts. And the log holds no more than the largest quota that there was for it.
--
-- Where it is charged, as much again as the largest quota is kept, because it may be given back.
local keep, most, moved
--[last limit]
--[if CHARGE]
keep, most, moved = math.max(used, 2 * math.max(each(QUOTA))), used, base
--[else]
keep, most, moved = math.max(used, each(QUOTA)), used, base
--[end]
--[end]
if moved > 0 then
    log, offset, last, text = forget(log, offset, last, text, moved)
end
local k, length = last + 1, 0
--[if SHARED]
if last > 0 and newest == present then
    k = last
end
--[end]
--[if METADATA]
local _
_, _, length = entry(log, offset, last)
length, text = length + #metadata, text .. metadata
--[end]
total = total + cost
log, offset = put(log, offset, k, pack(present, total, length))
last = k
if most + cost > keep then
    log, offset, last, text = cut(log, offset, last, total, text, keep)
    moved = nil
end
newest = present
--[if CAPACITY]
if last > CAPACITY then
    log, offset, last = merge(log, offset, last, now, { each(WINDOW) })
    moved = nil
end
--[end]
--[each limit]
base = moved and base - moved or 0
used = used + cost
if used > keep then
    used = keep
end
--[end]

--- refund
-- What was used last; if it is said when it was used, what was used last until then.
local upto, back = last, cost
--[if PIECES]
log, offset = read_whole(log, offset)
--[end]
--[if CANCEL]
--[if PRECISION]
upto = first(log, offset, last, 0, since - since % PRECISION + PRECISION) - 1
--[else]
upto = first(log, offset, last, 0, since) - 1
--[if CAPACITY]
-- It may have become one with what came later in its sub-window.
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
most = upto < 0 and 0 or most - used_after(log, offset, upto, total)
--[end]
if back > most then
    back = most
end
if back > 0 then
    log, offset, last, total, text = take_out(log, offset, last, total, text, upto, back, present)
    newest = entry(log, offset, last)
--[each limit]
--[if CANCEL]
    base = first(log, offset, last, 1, now - WINDOW) - 1
    used = used_after(log, offset, base, total)
--[else]
    used = used > back and used - back or 0
--[end]
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
state = struct.pack('>I4', last + 1) .. string.sub(log, 5) .. text
--[else]
--[if PIECES]
-- What stands in pieces is in Redis already.
if type(log) == 'string' then
    state = log
end
--[else]
state = log
--[end]
--[end]

--- history
local from = first(log, offset, last, 1, now - LONGEST)
local newest_read = math.max(from, (first(log, offset, last, 1, before - 1))) - 1
local least = math.max(from, newest_read - most + 1)
if least > from then
    local time = entry(log, offset, least)
    if time == entry(log, offset, least - 1) and time < entry(log, offset, newest_read) then
        -- Not all of that time would fit.
        least = first(log, offset, last, least, time)
    end
end
for k = newest_read, least, -1 do
    local time, sum = entry(log, offset, k)
    local _, sum_before = entry(log, offset, k - 1)
    history[#history + 1] = time < present and time or present
    history[#history + 1] = (sum - sum_before) % TOTALS
--[if METADATA]
    history[#history + 1] = string.sub(text, text_end(log, offset, k - 1) + 1, text_end(log, offset, k))
--[else]
    history[#history + 1] = ''
--[end]
end
