-- Load for wrk. The first argument is the number of users, of whom one is taken at random for each request.
local requests = {}

function init(arguments)
	math.randomseed(os.time())
	for user = 1, tonumber(arguments[1]) do
		requests[user] = wrk.format('GET', '/hello', { ['X-User'] = 'user-' .. user })
	end
end

function request()
	return requests[math.random(#requests)]
end

function done(summary, latency)
	local errors = summary.errors
	print(string.format('result %d %d %d %d %d %d', summary.requests, summary.duration, errors.status,
		errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50), latency:percentile(99)))
end
