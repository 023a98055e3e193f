package io.github.ratelimit.benchmarks.application;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import redis.clients.jedis.RedisClient;

/**
 * Counts the requests of each user in a key that expires.
 */
@Component
class CounterFilter extends OncePerRequestFilter {

	private static final String SCRIPT = """
			local used = redis.call('INCR', KEYS[1])
			if used == 1 then
				redis.call('EXPIRE', KEYS[1], ARGV[1])
			end
			return {used, redis.call('TTL', KEYS[1])}
			""";

	private final RedisClient redis;

	private final String sha1;

	private final long limit;

	private final List<String> arguments;

	CounterFilter(RedisClient redis, @Value("${limit}") long limit, @Value("${seconds}") long seconds) {
		this.redis = redis;
		this.sha1 = redis.scriptLoad(SCRIPT);
		this.limit = limit;
		this.arguments = List.of(Long.toString(seconds));
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		List<String> keys = List.of("hello:" + request.getHeader("X-User"));
		List<?> reply = (List<?>) this.redis.evalsha(this.sha1, keys, this.arguments);
		long used = (Long) reply.get(0);
		response.setHeader("RateLimit-Limit", Long.toString(this.limit));
		response.setHeader("RateLimit-Remaining", Long.toString(Math.max(0, this.limit - used)));
		if (used <= this.limit) {
			chain.doFilter(request, response);
			return;
		}
		response.setStatus(429);
		response.setHeader("Retry-After", reply.get(1).toString());
		response.setContentType("text/plain");
		response.getWriter().write("Too many requests");
	}

}
