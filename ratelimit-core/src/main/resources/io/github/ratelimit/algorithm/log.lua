-- sliding-log and sliding-window: one log of the allowed requests for all limits.
--
-- Options: precision in microseconds. A request is entered with the end of the sub-window that it is in, so that it
-- counts for a window from then, and requests of one sub-window share an entry; 0 enters each with its own time.
-- Then whether metadata is kept (1 or 0).
-- State, 12 bytes for each entry, from the oldest to the newest: time in microseconds (7 bytes), running total of all
-- costs up to and including it, modulo 2^40 (5 bytes). The first entry is the base: its totals count, its time does not.
-- Where metadata is kept, the number of entries stands first (4 bytes), each entry has the running length of all metadata
-- as well, modulo 2^32 (4 bytes), and all metadata stands last.

local TOTALS, LENGTHS = 2 ^ 40, 2 ^ 32

local function entry(meter, time, total, length)
    if meter.metadata then
        return struct.pack('>I7I5I4', time, total % TOTALS, length % LENGTHS)
    end
    return struct.pack('>I7I5', time, total % TOTALS)
end

local function time(meter, k)
    return (struct.unpack('>I7', meter.log, meter.width * k + 1))
end

local function total(meter, k)
    return (struct.unpack('>I5', meter.log, meter.width * k + 8))
end

local function length(meter, k)
    return meter.metadata and (struct.unpack('>I4', meter.log, meter.width * k + 13)) or 0
end

-- Where the metadata of an entry ends in the text.
local function text_end(meter, k)
    return (length(meter, k) - length(meter, 0)) % LENGTHS
end

-- What was used after an entry.
local function used_after(meter, k)
    return (meter.total - total(meter, k)) % TOTALS
end

-- First entry after the base that is later than the time; one past the last if none.
local function first_after(meter, moment)
    local low, high = 1, meter.last + 1
    if high == 1 or time(meter, 1) > moment then
        return 1
    end
    while low < high do
        local middle = math.floor((low + high) / 2)
        if time(meter, middle) > moment then
            high = middle
        else
            low = middle + 1
        end
    end
    return low
end

-- First entry, the base included, after which no more than the cost was used.
local function first_within(meter, cost)
    local low, high = 0, meter.last
    while low < high do
        local middle = math.floor((low + high) / 2)
        if used_after(meter, middle) <= cost then
            high = middle
        else
            low = middle + 1
        end
    end
    return low
end

-- Takes the log and the text out of the state; an empty log if there is none, or what there is is not one.
local function read(meter)
    local state, width = meter.state, meter.width
    meter.log, meter.text = '', ''
    if meter.metadata and #state >= 4 then
        local size = width * struct.unpack('>I4', state)
        if #state >= 4 + size then
            meter.log, meter.text = string.sub(state, 5, 4 + size), string.sub(state, 5 + size)
        end
    elseif #state % width == 0 then
        meter.log = state
    end
    meter.last = #meter.log / width - 1
    if #meter.log == 0 or text_end(meter, meter.last) ~= #meter.text then
        meter.log, meter.text, meter.last = entry(meter, 0, 0, 0), '', 0
    end
    meter.total = total(meter, meter.last)
end

-- Makes an entry the base of the log.
local function forget(meter, base)
    if base > 0 then
        meter.text = string.sub(meter.text, text_end(meter, base) + 1)
        meter.log = string.sub(meter.log, meter.width * base + 1)
        meter.last = meter.last - base
    end
end

-- Replaces the entries from one on.
local function put(meter, k, entries)
    meter.log = string.sub(meter.log, 1, meter.width * k) .. entries
    meter.last = #meter.log / meter.width - 1
end

algorithms['log'] = {

    load = function(meter)
        local now, windows, precision = meter.now, meter.windows, meter.options[1]
        meter.metadata = meter.options[2] == 1
        meter.width = meter.metadata and 16 or 12
        meter.shared = precision > 0
        meter.present = meter.shared and now - now % precision + precision or now
        meter.used = {}
        read(meter)
        if time(meter, meter.last) > meter.present then
            -- The clock was set back: what it says came later than now came now.
            local first = first_after(meter, meter.present)
            local entries = {}
            for k = first, meter.last do
                entries[#entries + 1] = entry(meter, meter.present, total(meter, k), length(meter, k))
            end
            put(meter, first, table.concat(entries))
            meter.corrected = true
        end
        for i = 1, #windows do
            meter.base = first_after(meter, now - windows[i]) - 1
            meter.used[i] = used_after(meter, meter.base)
        end
    end,

    retry_after = function(meter, i, cost)
        local room = meter.quotas[i] - cost
        if meter.used[i] <= room then
            return 0
        end
        return time(meter, first_within(meter, room)) + meter.windows[i] - meter.now
    end,

    add = function(meter, cost, metadata)
        local largest = math.max(unpack(meter.quotas))
        meter.total = meter.total + cost
        forget(meter, meter.base)
        if meter.shared and meter.last > 0 and time(meter, meter.last) == meter.present then
            put(meter, meter.last, entry(meter, meter.present, meter.total))
        else
            put(meter, meter.last + 1, entry(meter, meter.present, meter.total, length(meter, meter.last) + #metadata))
            meter.text = meter.metadata and meter.text .. metadata or ''
        end
        if used_after(meter, 0) > largest then
            -- Denied requests were counted: what is more than the largest quota decides nothing.
            local first = first_within(meter, largest)
            forget(meter, used_after(meter, first) == largest and first or first - 1)
            meter.log = entry(meter, 0, meter.total - largest, length(meter, 0)) .. string.sub(meter.log, meter.width + 1)
        end
        for i = 1, #meter.used do
            meter.used[i] = math.min(meter.used[i] + cost, largest)
        end
    end,

    refund = function(meter, cost)
        local back = math.min(cost, meter.used[#meter.used])
        local newest = first_within(meter, back)
        meter.total = meter.total - back
        put(meter, newest, entry(meter, time(meter, newest), meter.total, length(meter, newest)))
        meter.text = string.sub(meter.text, 1, text_end(meter, newest))
        for i = 1, #meter.used do
            meter.used[i] = math.max(0, meter.used[i] - back)
        end
    end,

    remaining = function(meter, i)
        return math.max(0, meter.quotas[i] - meter.used[i])
    end,

    ttl = function(meter)
        local longest = #meter.windows
        return meter.used[longest] > 0 and time(meter, meter.last) + meter.windows[longest] - meter.now or 0
    end,

    state = function(meter)
        return meter.metadata and struct.pack('>I4', meter.last + 1) .. meter.log .. meter.text or meter.log
    end,

    -- For each request, newest first: time, cost, metadata.
    history = function(meter)
        local history = {}
        for k = meter.last, first_after(meter, meter.now - meter.windows[#meter.windows]), -1 do
            history[#history + 1] = time(meter, k)
            history[#history + 1] = (total(meter, k) - total(meter, k - 1)) % TOTALS
            history[#history + 1] = string.sub(meter.text, text_end(meter, k - 1) + 1, text_end(meter, k))
        end
        return history
    end,

}
