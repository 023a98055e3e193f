-- Decides one request over all its meters, all or nothing. A meter is the state of one policy and identifier; what is
-- in a state is its algorithm's business. The parts of the algorithms stand before this driver in the same script.
--
-- KEYS[m]   state of meter m. A key of another type counts as no state, and is replaced.
-- ARGV      operation: 'acquire', 'peek' (writes nothing) or 'refund'
--           now_us: microseconds since the epoch, or '' for this server's clock
--           then for each meter: algorithm, cost, number of limits, and for each limit: quota, window_us
-- Reply     acquire and peek: allowed (1 or 0), then for each meter and limit: remaining, reset_after_us,
--           retry_after_us (0 = allows it now, -1 = never will)
--           refund: nothing

local NEVER = -1
-- The server's clock does not follow a clock that is handed in, so keys must not expire by it.
local HANDED_IN_TTL_MS = 60000

local operation, now = ARGV[1], tonumber(ARGV[2])
local handed_in = now ~= nil
if not handed_in then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
end

local function load_meters()
    local meters, states, at = {}, redis.call('MGET', unpack(KEYS)), 2
    for m = 1, #KEYS do
        local algorithm, cost, size = algorithms[ARGV[at + 1]], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
        local quotas, windows = {}, {}
        at = at + 3
        for i = 1, size do
            quotas[i], windows[i] = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
            at = at + 2
        end
        local meter = {
            key = KEYS[m], state = states[m] or '', algorithm = algorithm, now = now,
            cost = cost, quotas = quotas, windows = windows,
        }
        algorithm.load(meter)
        meters[m] = meter
    end
    return meters
end

local function save(meter)
    local ttl_us = meter.algorithm.ttl(meter)
    if ttl_us <= 0 then
        redis.call('DEL', meter.key)
        return
    end
    -- By the moment, not by the time that is left: that would be rounded up again with each refund. Rounded up, the
    -- moment is always after now.
    local option, ms = 'PXAT', math.ceil((meter.now + ttl_us) / 1000)
    if handed_in then
        option, ms = 'PX', math.max(math.ceil(ttl_us / 1000), HANDED_IN_TTL_MS)
    end
    redis.call('SET', meter.key, meter.algorithm.state(meter), option, ms)
end

local function retry_after(meter, i)
    if meter.cost == 0 then
        return 0
    elseif meter.cost > meter.quotas[i] then
        return NEVER
    else
        return meter.algorithm.retry_after(meter, i, meter.cost)
    end
end

local meters = load_meters()

if operation == 'refund' then
    for m = 1, #meters do
        local meter = meters[m]
        if meter.cost > 0 and meter.state ~= '' then
            meter.algorithm.refund(meter, meter.cost)
            save(meter)
        end
    end
    return {}
end

local allowed, waits = true, {}
for m = 1, #meters do
    for i = 1, #meters[m].quotas do
        local wait = retry_after(meters[m], i)
        waits[#waits + 1] = wait
        allowed = allowed and wait == 0
    end
end

local reply, w = {allowed and 1 or 0}, 0
for m = 1, #meters do
    local meter = meters[m]
    if operation == 'acquire' and meter.cost > 0 then
        if allowed then
            meter.algorithm.add(meter, meter.cost)
        end
        -- A state from a clock that was set back is stored even if the request is denied: it would stay ahead.
        if allowed or meter.rewound then
            save(meter)
        end
    end
    for i = 1, #meter.quotas do
        w = w + 1
        reply[#reply + 1] = meter.algorithm.remaining(meter, i)
        reply[#reply + 1] = meter.algorithm.reset_after(meter, i)
        reply[#reply + 1] = waits[w]
    end
end
return reply
