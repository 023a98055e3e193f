package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that cost nothing, while the store is gone and their policies deny all others.
 */
@EachContainer
class FreeRequestIT {

	@Parameter
	Container container;

	private static TestApplication application;

	@BeforeParameterizedClassInvocation
	static void start(Container container) {
		application = TestApplication.startWithOwnLimiter(container, Application.class,
				"ratelimit.redis.url=redis://127.0.0.1:" + TestRedis.freePort(), "ratelimit.policies.path.cost=0",
				"ratelimit.policies.path.paths=/path", "ratelimit.policies.path.limits=1/h",
				"ratelimit.policies.path.on-store-failure=deny", "ratelimit.policies.route.limits=1/h",
				"ratelimit.policies.route.routes[0].paths=/route/free", "ratelimit.policies.route.routes[0].cost=0",
				"ratelimit.policies.route.routes[1].paths=/route/paid",
				"ratelimit.policies.route.on-store-failure=deny", "ratelimit.policies.bean.paths=/bean/{cost}",
				"ratelimit.policies.bean.limits=1/h", "ratelimit.policies.bean.on-store-failure=deny",
				"ratelimit.policies.keyed.paths=/keyed", "ratelimit.policies.keyed.cost=0",
				"ratelimit.policies.keyed.limits=1/h", "ratelimit.policies.keyed.identifiers=header:X-Key",
				"ratelimit.policies.keyed.missing-identifier=deny", "ratelimit.policies.method.limits=1/h",
				"ratelimit.policies.method.on-store-failure=deny");
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		application.close();
	}

	@ParameterizedTest
	@CsvSource({ "/path, 200", "/route/free, 200", "/route/paid, 503", "/bean/0, 200", "/bean/1, 503", "/keyed, 200",
			"/method/0, 200", "/method/1, 503", "/method, 200" })
	void costOfNothingAsksNobody(String path, int status) {
		assertThat(application.get(path).statusCode()).isEqualTo(status);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { ServletWebSecurityAutoConfiguration.class, UserDetailsServiceAutoConfiguration.class })
	@RestController
	static class Application {

		@GetMapping({ "/path", "/route/*", "/bean/*", "/keyed" })
		String get() {
			return "served";
		}

		@GetMapping("/method/{cost}")
		@RateLimited(policy = "method", costExpression = "#cost")
		String byExpression(@PathVariable int cost) {
			return "served";
		}

		@GetMapping("/method")
		@RateLimited(policy = "method", cost = 0)
		String method() {
			return "served";
		}

		@Bean
		static RequestCost requestCost() {
			return (request, policy, configured) -> policy.equals("bean")
					? Long.parseLong(request.getRequestURI().substring("/bean/".length())) : configured;
		}

	}

}
