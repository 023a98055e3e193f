-- fixed-window and first-request-window: counters of windows.
--
-- Options: how many windows are kept for each limit; then for each limit how many ends of windows follow (0: windows are
-- aligned to the epoch; -1: they begin with the first request), and these ends, ascending.
-- State, 14 bytes for each kept window, for each limit from the present one to the oldest: end of the window in
-- microseconds (7 bytes), count (7 bytes).

local MAX_COUNT = 2 ^ 53 - 1

-- By how much windows that follow each other may be longer or shorter than their length, in microseconds: there are zones
-- whose days have 21 to 27 hours.
local UNEVEN = 3 * 3600000000

-- Start and end of the window of the limit that the present time is in, and where the options of the next limit are.
local function find_window(meter, i, option)
    local now, length, ends = meter.now, meter.windows[i], meter.options[option]
    if ends < 0 then
        return now, now + length, option + 1
    end
    for e = option + 2, option + ends do
        local start, finish = meter.options[e - 1], meter.options[e]
        -- The ends come by another clock, which may be far off.
        if start <= now and now < finish and finish - now <= length + UNEVEN then
            return start, finish, option + 1 + ends
        end
    end
    local start = now - now % length
    return start, start + length, option + 1 + ends
end

-- A window in which nothing was used is none: what is kept takes its place, and may be the present window if the clock was
-- set back.
local function drop_unused(meter, present)
    local used = present
    for k = present, present + meter.retain - 1 do
        if meter.counts[k] > 0 then
            meter.ends[used] = meter.ends[k]
            meter.counts[used] = meter.counts[k]
            used = used + 1
        end
    end
    for k = used, present + meter.retain - 1 do
        meter.ends[k] = 0
        meter.counts[k] = 0
    end
end

local function begin(meter, present, finish)
    for k = present + meter.retain - 1, present + 1, -1 do
        meter.ends[k] = meter.ends[k - 1]
        meter.counts[k] = meter.counts[k - 1]
    end
    meter.ends[present] = finish
    meter.counts[present] = 0
end

-- Forgets windows that are too old, and those of a clock that was set back.
local function forget(meter, present, finish)
    for k = present + 1, present + meter.retain - 1 do
        local ahead = meter.ends[k] >= meter.ends[present]
        meter.corrected = meter.corrected or ahead
        if ahead or meter.ends[k] <= finish then
            meter.ends[k] = 0
            meter.counts[k] = 0
        end
    end
end

algorithms['window-counter'] = {

    load = function(meter)
        local now, state, retain = meter.now, meter.state, meter.options[1]
        meter.retain, meter.starts, meter.ends, meter.counts, meter.kept = retain, {}, {}, {}, {}
        local stored = #state == 14 * retain * #meter.windows
        for k = 1, retain * #meter.windows do
            meter.ends[k], meter.counts[k] = 0, 0
            if stored then
                meter.ends[k], meter.counts[k] = struct.unpack('>I7I7', state, 14 * k - 13)
                -- More is of another making.
                meter.counts[k] = math.min(meter.counts[k], MAX_COUNT)
            end
        end
        local option = 2
        for i = 1, #meter.windows do
            local present = retain * (i - 1) + 1
            local length = meter.windows[i]
            local uneven = retain > 1 and meter.options[option] > 0 and UNEVEN or 0
            local start, finish
            start, finish, option = find_window(meter, i, option)
            meter.kept[i] = (retain - 1) * length + uneven
            if meter.counts[present] == 0 then
                drop_unused(meter, present)
            end
            if meter.counts[present] > 0 and meter.ends[present] > math.max(finish, now + length) then
                -- The clock was set back: the count lasts one window, not until the clock has caught up.
                meter.ends[present] = now + length
                meter.corrected = true
            end
            if meter.counts[present] == 0 then
                meter.ends[present] = finish
            elseif meter.ends[present] <= now then
                -- A window that was corrected does not end where another starts: the next is as long as any, or three
                -- quotas would fit into one window.
                begin(meter, present, meter.ends[present] > start and meter.ends[present] + length or finish)
            end
            forget(meter, present, meter.ends[present] - retain * length + uneven)
            meter.starts[i] = meter.ends[present] == finish and start or meter.ends[present] - length
        end
    end,

    retry_after = function(meter, i, cost)
        local present = meter.retain * (i - 1) + 1
        return meter.quotas[i] - meter.counts[present] >= cost and 0 or meter.ends[present] - meter.now
    end,

    add = function(meter, cost)
        for present = 1, #meter.counts, meter.retain do
            meter.counts[present] = math.min(meter.counts[present] + cost, MAX_COUNT)
        end
    end,

    -- What was used before the present window, if that is said, is not part of it.
    refund = function(meter, cost, since)
        for i = 1, #meter.windows do
            local present = meter.retain * (i - 1) + 1
            if not since or since >= meter.starts[i] then
                meter.counts[present] = math.max(0, meter.counts[present] - cost)
            end
        end
    end,

    remaining = function(meter, i)
        return math.max(0, meter.quotas[i] - meter.counts[meter.retain * (i - 1) + 1])
    end,

    ttl = function(meter)
        local ttl = 0
        for k = 1, #meter.counts do
            if meter.counts[k] > 0 then
                local kept = meter.kept[math.floor((k - 1) / meter.retain) + 1]
                ttl = math.max(ttl, meter.ends[k] + kept - meter.now)
            end
        end
        return ttl
    end,

    state = function(meter)
        local packed = {}
        for k = 1, #meter.counts do
            packed[k] = struct.pack('>I7I7', meter.ends[k], meter.counts[k])
        end
        return table.concat(packed)
    end,

    -- For each window in which something was used, by limit and from the newest to the oldest: limit, end, count.
    history = function(meter)
        local history = {}
        for k = 1, #meter.counts do
            if meter.counts[k] > 0 then
                history[#history + 1] = math.floor((k - 1) / meter.retain)
                history[#history + 1] = meter.ends[k]
                history[#history + 1] = meter.counts[k]
            end
        end
        return history
    end,

}
