-- sliding-log and sliding-window: one log of the allowed requests for all limits.
--
-- Options: precision in microseconds. A request is entered with the end of the sub-window that it is in, so that it
-- counts for a window from then, and requests of one sub-window share an entry; 0 enters each with its own time.
-- Then whether metadata is kept (1 or 0).
-- State: how many entries have been forgotten (4 bytes). Then 10 bytes for each entry, from the oldest to the newest: time
-- in microseconds (7 bytes), running total of all costs up to and including it, modulo 2^24 (3 bytes). Where requests
-- share entries, quotas are larger, and totals modulo 2^40 (5 bytes). The first entry that is not forgotten is the base:
-- its totals count, its time does not.
-- Where metadata is kept, the number of entries stands first (4 bytes), each entry has the running length of all metadata
-- as well, modulo 2^32 (4 bytes), and all metadata stands last.
--
-- Of a large state only those pieces are read that a decision looks at, and requests are entered in place. It is written
-- anew when more is forgotten than not, and by what is rare. Where the quotas are so small that a state cannot be large, it
-- is read with all others; one that is large all the same, because the quotas were lowered or are those of another plan, is
-- read whole then (10 microseconds for 10,000 entries), and yet written in place.

local HEADER, NONE_FORGOTTEN, LENGTHS = 4, '\0\0\0\0', 2 ^ 32

-- Bytes of a large state, and entries of a piece.
local LARGE, PIECE = 16384, 64

local function entry(meter, time, total, length)
    if meter.metadata then
        return struct.pack('>I7I3I4', time, total % meter.totals, length % LENGTHS)
    end
    return struct.pack(meter.form, time, total % meter.totals)
end

-- The piece with an entry: its number, and where in it the entry stands.
local function piece_of(meter, k)
    local number = (meter.offset - HEADER) / meter.width + k
    return math.floor(number / PIECE), meter.width * (number % PIECE) + 1
end

-- Bytes with an entry, and where in them it stands.
local function find(meter, k)
    if not meter.pieces then
        return meter.log, meter.offset + meter.width * k + 1
    end
    local piece, at = piece_of(meter, k)
    if not meter.pieces[piece] then
        local from = HEADER + meter.width * PIECE * piece
        meter.pieces[piece] = redis.call('GETRANGE', meter.key, from, from + meter.width * PIECE - 1)
    end
    return meter.pieces[piece], at
end

local function time(meter, k)
    return (struct.unpack('>I7', find(meter, k)))
end

local function total(meter, k)
    local _, total = struct.unpack(meter.form, find(meter, k))
    return total
end

local function length(meter, k)
    return meter.metadata and (struct.unpack('>I4', meter.log, meter.offset + meter.width * k + 11)) or 0
end

-- Where the metadata of an entry ends in the text.
local function text_end(meter, k)
    return (length(meter, k) - length(meter, 0)) % LENGTHS
end

-- What was used after an entry.
local function used_after(meter, k)
    return (meter.total - total(meter, k)) % meter.totals
end

local function is_after(meter, k, moment)
    return time(meter, k) > moment
end

local function is_within(meter, k, cost)
    return used_after(meter, k) <= cost
end

-- First entry for which something is true, as it is for all after it; one past the last if none. The older it is, the
-- fewer entries are looked at.
local function first(meter, low, is, value)
    local high, step = low, 1
    while high <= meter.last and not is(meter, high, value) do
        low, high, step = high + 1, high + step, 2 * step
    end
    high = math.min(high, meter.last + 1)
    while low < high do
        local middle = math.floor((low + high) / 2)
        if is(meter, middle, value) then
            high = middle
        else
            low = middle + 1
        end
    end
    return low
end

-- Takes the log and the text out of the state; an empty log if there is none, if what there is is not one, or if all of it
-- has left the longest window.
local function read(meter)
    local state, width = meter.state, meter.width
    local size = state and #state
    if not state then
        -- Of a key of another type there is no length.
        size = redis.pcall('STRLEN', meter.key)
        if type(size) == 'table' then
            if string.sub(size.err, 1, 9) ~= 'WRONGTYPE' then
                error(size.err)
            end
            size = 0
        end
        state = size > 0 and redis.call('GETRANGE', meter.key, 0, size > LARGE and HEADER - 1 or LARGE) or ''
        meter.state = state
    end
    local number, entries = size >= HEADER and struct.unpack('>I4', state) or 0, (size - HEADER) / width
    meter.log, meter.text, meter.offset, meter.last = state, '', HEADER, -1
    if meter.metadata and number <= entries then
        meter.text, meter.last = string.sub(state, HEADER + width * number + 1), number - 1
    elseif not meter.metadata and number < entries and entries % 1 == 0 then
        meter.offset, meter.last = HEADER + width * number, entries - number - 1
        meter.pieces = size > LARGE and {} or nil
    end
    if meter.last < 0 or (meter.metadata and text_end(meter, meter.last) ~= #meter.text)
            or time(meter, meter.last) <= meter.now - meter.windows[#meter.windows] then
        meter.log, meter.text, meter.offset, meter.last, meter.pieces = entry(meter, 0, 0, 0), '', 0, 0, nil
    end
    meter.total = total(meter, meter.last)
end

-- Takes what is not forgotten of a large state whole, so that it will be written anew.
local function read_whole(meter)
    if meter.pieces then
        meter.log, meter.offset, meter.pieces = redis.call('GETRANGE', meter.key, meter.offset, -1), 0, nil
    end
end

-- Makes an entry the base of the log.
local function forget(meter, base)
    if base == 0 then
        return
    end
    meter.text = string.sub(meter.text, text_end(meter, base) + 1)
    meter.offset = meter.offset + meter.width * base
    meter.last = meter.last - base
    if meter.pieces then
        local forgotten = (meter.offset - HEADER) / meter.width
        if forgotten > meter.last then
            read_whole(meter)
        else
            redis.call('SETRANGE', meter.key, 0, struct.pack('>I4', forgotten))
        end
    end
end

-- Replaces the entries from one on; in a large state the last one only, or appends one.
local function put(meter, k, entries)
    if meter.pieces then
        local piece, at = piece_of(meter, k)
        local bytes = meter.pieces[piece]
        redis.call('SETRANGE', meter.key, meter.offset + meter.width * k, entries)
        meter.pieces[piece] = bytes and string.sub(bytes, 1, at - 1) .. entries
    else
        meter.log = NONE_FORGOTTEN .. string.sub(meter.log, meter.offset + 1, meter.offset + meter.width * k) .. entries
        meter.offset = HEADER
    end
    meter.last = k - 1 + #entries / meter.width
end

-- Makes the base that what was used after it is no more than is kept.
local function cut(meter, keep)
    local k = first(meter, 0, is_within, keep)
    forget(meter, used_after(meter, k) == keep and k or k - 1)
    local base = entry(meter, 0, meter.total - keep, length(meter, 0))
    if meter.pieces then
        redis.call('SETRANGE', meter.key, meter.offset, base)
        meter.pieces[piece_of(meter, 0)] = nil
    else
        meter.log = NONE_FORGOTTEN .. base .. string.sub(meter.log, meter.offset + meter.width + 1)
        meter.offset = HEADER
    end
end

-- The most that is kept when a denied request makes the log hold more than anything may use.
--
-- The largest quota: what is older decides nothing. But never less than was used before, because others may have larger
-- quotas, by which it still counts: those of another plan, or of before a change. The newest of what is kept takes the
-- place of the oldest, so no stretch of time up to now holds less than it did before, and nobody is admitted beyond their
-- quota, whoever else counts. And the log holds no more than the largest quota that there was for it.
local function most_kept(meter)
    return math.max(meter.used[#meter.used], unpack(meter.quotas))
end

local function enter(meter, cost, metadata, keep)
    meter.total = meter.total + cost
    forget(meter, meter.base)
    if meter.shared and meter.last > 0 and time(meter, meter.last) == meter.present then
        put(meter, meter.last, entry(meter, meter.present, meter.total))
    else
        put(meter, meter.last + 1, entry(meter, meter.present, meter.total, length(meter, meter.last) + #metadata))
        meter.text = meter.metadata and meter.text .. metadata or ''
    end
    if used_after(meter, 0) > keep then
        cut(meter, keep)
    end
    for i = 1, #meter.used do
        meter.used[i] = math.min(meter.used[i] + cost, keep)
    end
end

algorithms['log'] = {

    -- Whether a state may be large by these quotas.
    in_pieces = function(meter)
        local precision, width, entries = meter.options[1], 10, math.max(unpack(meter.quotas)) + 1
        if precision > 0 then
            width, entries = 12, math.min(entries, meter.windows[#meter.windows] / precision + 2)
        end
        return meter.options[2] == 0 and HEADER + width * entries > LARGE
    end,

    load = function(meter)
        local now, windows, precision = meter.now, meter.windows, meter.options[1]
        meter.metadata = meter.options[2] == 1
        meter.shared = precision > 0
        meter.width, meter.form, meter.totals = 10, '>I7I3', 2 ^ 24
        if meter.shared then
            meter.width, meter.form, meter.totals = 12, '>I7I5', 2 ^ 40
        elseif meter.metadata then
            meter.width = 14
        end
        meter.present = meter.shared and now - now % precision + precision or now
        meter.used = {}
        read(meter)
        if time(meter, meter.last) > meter.present then
            -- The clock was set back: what it says came later than now came now.
            read_whole(meter)
            local future = first(meter, 1, is_after, meter.present)
            local entries = {}
            for k = future, meter.last do
                entries[#entries + 1] = entry(meter, meter.present, total(meter, k), length(meter, k))
            end
            put(meter, future, table.concat(entries))
            meter.corrected = true
        end
        for i = 1, #windows do
            meter.base = first(meter, 1, is_after, now - windows[i]) - 1
            meter.used[i] = used_after(meter, meter.base)
        end
    end,

    retry_after = function(meter, i, cost)
        local room = meter.quotas[i] - cost
        if meter.used[i] <= room then
            return 0
        end
        local wait = time(meter, first(meter, 0, is_within, room)) + meter.windows[i] - meter.now
        -- No more and no less in a log that is damaged.
        return math.max(1, math.min(wait, meter.windows[i] + meter.present - meter.now))
    end,

    add = function(meter, cost, metadata)
        enter(meter, cost, metadata, most_kept(meter))
    end,

    -- As much again as the largest quota is kept, because it may be given back.
    charge = function(meter, cost, metadata)
        enter(meter, cost, metadata, math.max(meter.used[#meter.used], 2 * math.max(unpack(meter.quotas))))
    end,

    -- What was used last; if it is said when it was used, what was used last until then: later requests stay where
    -- they are, or they would leave the window too soon.
    refund = function(meter, cost, since)
        read_whole(meter)
        local used, last, later = meter.used[#meter.used], meter.last, ''
        if since then
            local moment = meter.shared and since - since % meter.options[1] + meter.options[1] or since
            last = first(meter, 0, is_after, moment) - 1
            used = math.max(0, used - used_after(meter, math.max(last, 0)))
        end
        local back = math.min(cost, used)
        if back == 0 then
            return
        end
        local after = used_after(meter, last)
        local newest = first(meter, 0, is_within, after + back)
        local text = text_end(meter, last) - text_end(meter, newest)
        for k = last + 1, meter.last do
            later = later .. entry(meter, time(meter, k), total(meter, k) - back, length(meter, k) - text)
        end
        meter.text = string.sub(meter.text, 1, text_end(meter, newest)) .. string.sub(meter.text, text_end(meter, last) + 1)
        meter.total = meter.total - back
        -- No later than now in a log that is damaged.
        local newest_time = math.min(time(meter, newest), meter.present)
        put(meter, newest, entry(meter, newest_time, meter.total - after, length(meter, newest)) .. later)
        for i = 1, #meter.used do
            if since then
                meter.used[i] = used_after(meter, first(meter, 1, is_after, meter.now - meter.windows[i]) - 1)
            else
                meter.used[i] = math.max(0, meter.used[i] - back)
            end
        end
    end,

    remaining = function(meter, i)
        return math.max(0, meter.quotas[i] - meter.used[i])
    end,

    ttl = function(meter)
        local longest = #meter.windows
        return meter.used[longest] > 0 and time(meter, meter.last) + meter.windows[longest] - meter.now or 0
    end,

    -- Nothing if it stands in Redis already.
    state = function(meter)
        if meter.pieces then
            return nil
        elseif meter.metadata then
            return struct.pack('>I4', meter.last + 1) .. string.sub(meter.log, HEADER + 1) .. meter.text
        end
        return meter.log
    end,

    -- For each request, newest first: time, cost, metadata.
    history = function(meter)
        local history = {}
        read_whole(meter)
        for k = meter.last, first(meter, 1, is_after, meter.now - meter.windows[#meter.windows]), -1 do
            history[#history + 1] = math.min(time(meter, k), meter.present)
            history[#history + 1] = (total(meter, k) - total(meter, k - 1)) % meter.totals
            history[#history + 1] = string.sub(meter.text, text_end(meter, k - 1) + 1, text_end(meter, k))
        end
        return history
    end,

}
