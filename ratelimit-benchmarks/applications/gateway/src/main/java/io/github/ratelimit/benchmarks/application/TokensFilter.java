package io.github.ratelimit.benchmarks.application;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Takes tokens, which are refilled every second and in whole numbers: if less than one
 * request per second is allowed, a request takes one token for each second of its share.
 */
@Component
class TokensFilter extends OncePerRequestFilter {

	@SuppressWarnings("rawtypes")
	private static final RedisScript<List> SCRIPT = RedisScript.of(new ClassPathResource("gateway.lua"), List.class);

	private final StringRedisTemplate redis;

	private final String rate;

	private final String burst;

	private final String cost;

	TokensFilter(StringRedisTemplate redis, @Value("${limit}") long limit, @Value("${seconds}") long seconds) {
		this.redis = redis;
		boolean often = limit >= seconds;
		this.rate = Long.toString(often ? limit / seconds : 1);
		this.burst = Long.toString(often ? limit : seconds);
		this.cost = Long.toString(often ? 1 : seconds / limit);
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		String key = "request_rate_limiter.{" + request.getHeader("X-User") + "}";
		List<?> reply = this.redis.execute(SCRIPT, List.of(key + ".tokens", key + ".timestamp"), this.rate, this.burst,
				this.cost);
		response.setHeader("X-RateLimit-Remaining", reply.get(1).toString());
		response.setHeader("X-RateLimit-Replenish-Rate", this.rate);
		response.setHeader("X-RateLimit-Burst-Capacity", this.burst);
		response.setHeader("X-RateLimit-Requested-Tokens", this.cost);
		if (reply.get(0).equals(1L)) {
			chain.doFilter(request, response);
			return;
		}
		response.setStatus(429);
	}

}
