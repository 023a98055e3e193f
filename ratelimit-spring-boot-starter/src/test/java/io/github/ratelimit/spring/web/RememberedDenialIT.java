package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.actuate.RateLimitsEndpoint;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The policies that a denial names are the same whether the store or the memory of
 * denials answers.
 */
@EachContainer
class RememberedDenialIT {

	@Parameter
	Container container;

	private static OwnRedis redis;

	private static UnifiedJedis jedis;

	private static TestApplication application;

	@BeforeParameterizedClassInvocation
	static void start(Container container) {
		redis = OwnRedis.started();
		jedis = RedisClient.create("127.0.0.1", redis.port());
		application = TestApplication.startWithOwnLimiter(container, Application.class,
				"ratelimit.redis.url=redis://127.0.0.1:" + redis.port(), "ratelimit.denial-cache.max-age=1h",
				"ratelimit.policies.a-free.paths=/free", "ratelimit.policies.a-free.limits=9/h",
				"ratelimit.policies.a-free.cost=0", "ratelimit.policies.full.paths=/free",
				"ratelimit.policies.full.limits=1/d", "ratelimit.policies.path.paths=/method",
				"ratelimit.policies.path.limits=9/h", "ratelimit.policies.method.limits=1/d",
				"ratelimit.policies.address.paths=/user", "ratelimit.policies.address.limits=9/h",
				"ratelimit.policies.user.paths=/user", "ratelimit.policies.user.limits=1/d",
				"ratelimit.policies.user.identifiers=user", "ratelimit.policies.calls.paths=/calls",
				"ratelimit.policies.calls.limits=1/d", "ratelimit.policies.calls.concurrent=5",
				"ratelimit.policies.other.paths=/calls", "ratelimit.policies.other.limits=9/h",
				"ratelimit.policies.plan.paths=/basic", "ratelimit.policies.plan.limits=1/d",
				"ratelimit.policies.plan.concurrent=5", "ratelimit.policies.plan.plans.pro.limits=9/d",
				"ratelimit.policies.block.paths=/block", "ratelimit.policies.block.limits=9/h,90/d",
				"management.endpoints.web.exposure.include=ratelimits",
				"management.endpoint.ratelimits.access=unrestricted");
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		application.close();
		jedis.close();
		redis.close();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "/free | \"full\";q=1;w=86400", "/method | \"path\";q=9;w=3600, \"method\";q=1;w=86400",
					"/user | \"address\";q=9;w=3600, \"user\";q=1;w=86400",
					"/calls | \"calls\";q=1;w=86400, \"other\";q=9;w=3600,"
							+ " \"calls (at once)\";q=5;qu=\"concurrent-requests\"" })
	void policiesAreThoseOfTheFirstDenial(String path, String policies) {
		assertThat(get(path, "secret").statusCode()).isEqualTo(200);
		assertDeniedTwice(path, "secret", policies);
	}

	@Test
	void callsAreNotNamedWhenOnlyTheCountBeforeTheLoginDenies() {
		assertThat(get("/basic", "wrong").statusCode()).isEqualTo(401);
		assertDeniedTwice("/basic", "wrong", "\"plan\";q=1;w=86400");
	}

	@Test
	void policiesAreNamedWhenTheClientIsBlocked() {
		RateLimitsEndpoint endpoint = application.bean(RateLimitsEndpoint.class);
		endpoint.write("blocks", "ip:127.0.0.1", null, "1h", "");
		try {
			HttpResponse<String> denied = assertDeniedTwice("/block", "secret",
					"\"block/h\";q=9;w=3600, \"block/d\";q=90;w=86400");
			assertThat(denied.body()).contains("abnormal-usage-detected");
			assertThat(denied.headers().map()).doesNotContainKeys("RateLimit", "X-Rate-Limit-Limit");
		}
		finally {
			endpoint.delete("blocks", "ip:127.0.0.1", null);
		}
	}

	private static HttpResponse<String> assertDeniedTwice(String path, String password, String policies) {
		HttpResponse<String> first = get(path, password);
		long calls = calls();
		HttpResponse<String> second = get(path, password);
		assertThat(first.statusCode()).isEqualTo(429);
		assertThat(first.headers().allValues("RateLimit-Policy")).containsExactly(policies);
		assertThat(second.statusCode()).isEqualTo(429);
		assertThat(second.headers().allValues("RateLimit-Policy")).containsExactly(policies);
		assertThat(calls()).isEqualTo(calls + ((path.equals("/method") || path.equals("/user")) ? 1 : 0));
		return second;
	}

	/** How often scripts were called. */
	private static long calls() {
		return jedis.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_eval"))
			.mapToLong((line) -> Long.parseLong(line.replaceFirst(".*:calls=(\\d+).*", "$1")))
			.sum();
	}

	private static HttpResponse<String> get(String path, String password) {
		return application.get(path, "Authorization", TestUsers.basic("berta:" + password));
	}

	@Import(LoginApplication.class)
	@RestController
	static class Application {

		@GetMapping({ "/free", "/user", "/calls", "/block" })
		String path() {
			return "served";
		}

		@GetMapping("/method")
		@RateLimited("method")
		String method() {
			return "served";
		}

	}

}
