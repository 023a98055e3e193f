package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests in which a filter of the application has called a limited method before the
 * path is limited by the same policy.
 */
class EarlyCallIT {

	private static TestApplication application;

	@BeforeAll
	static void start() {
		application = TestApplication.start(Application.class, "ratelimit.policies.api.limits=5/m",
				"ratelimit.policies.api.paths=/api,/denied", "ratelimit.policies.api.routes[0].paths=/dear",
				"ratelimit.policies.api.routes[0].cost=3", "ratelimit.policies.closed.limits=0/s",
				"ratelimit.policies.early.limits=2/h", "ratelimit.policies.early.paths=/both",
				"ratelimit.policies.few.limits=1/10s", "ratelimit.policies.few.paths=/both,/few");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@BeforeEach
	void forget() {
		application.forget();
		application.bean(Calls.class).forget();
	}

	@Test
	void requestPaysOnce() {
		assertThat(IntStream.range(0, 12).mapToObj((i) -> application.get("/api", "X-Call", "cheap").statusCode()))
			.isEqualTo(List.of(200, 200, 200, 200, 200, 429, 429, 429, 429, 429, 429, 429));
		assertThat(application.bean(Calls.class).served()).isEqualTo(5);
	}

	@Test
	void headersTellWhatIsLeftAfterTheCall() {
		HttpResponse<String> response = application.get("/api", "X-Call", "cheap");
		assertThat(response.headers().firstValue("RateLimit")).hasValue("\"api\";r=4;t=60");
		application.assertUsed("api", 1);
	}

	@Test
	void pathPaysTheDifferenceWhereItCostsMore() {
		assertThat(application.get("/dear", "X-Call", "cheap").statusCode()).isEqualTo(200);
		application.assertUsed("api", 3);
	}

	@Test
	void pathPaysNothingWhereTheCallCostsMore() {
		assertThat(application.get("/api", "X-Call", "dear").statusCode()).isEqualTo(200);
		application.assertUsed("api", 3);
	}

	@Test
	void callsThatFollowThePathPayNothingAgain() {
		assertThat(application.get("/again", "X-Call", "dear").statusCode()).isEqualTo(200);
		application.assertUsed("api", 3 + 1);
		application.forget();
		assertThat(application.get("/api", "X-Call", "dear", "X-Again", "cheap").statusCode()).isEqualTo(200);
		application.assertUsed("api", 3);
	}

	@Test
	void requestThatWaitsAsLongAsToldIsServedWhereItsPathWasDenied() {
		application.get("/api");
		application.advance(Duration.ofSeconds(10));
		application.get("/api");
		application.advance(Duration.ofSeconds(10));
		application.get("/api");
		application.advance(Duration.ofSeconds(10));
		HttpResponse<String> denied = application.get("/dear", "X-Call", "cheap");
		assertThat(denied.statusCode()).isEqualTo(429);
		// The call stays paid, so that four are used: two of them have to go.
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("40");
		application.assertUsed("api", 4);
		application.advance(Duration.ofSeconds(40));
		assertThat(application.get("/dear", "X-Call", "cheap").statusCode()).isEqualTo(200);
	}

	@Test
	void onlyWhatThePathHasPaidIsGivenBack() {
		assertThat(application.get("/denied", "X-Call", "cheap").statusCode()).isEqualTo(429);
		application.assertUsed("api", 1);
		application.forget();
		assertThat(application.get("/denied").statusCode()).isEqualTo(429);
		application.assertUsed("api", 0);
	}

	/** The call, which stays paid, has used up a limit that has not denied by now. */
	@ParameterizedTest
	@ValueSource(strings = { "/both", "/few" })
	void requestThatWaitsAsLongAsToldIsServedWhereAnotherPolicyDenied(String path) {
		assertThat(application.get(path, "X-Call", "early").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = application.get(path, "X-Call", "early");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("RateLimit").orElseThrow()).contains("\"early\";r=0;t=3600");
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("3600");
		application.advance(Duration.ofSeconds(3600));
		assertThat(application.get(path, "X-Call", "early").statusCode()).isEqualTo(200);
	}

	static class Application extends TestApplication.Served {

		@GetMapping({ "/dear", "/both", "/few" })
		String dear() {
			return "served";
		}

		@GetMapping("/again")
		@RateLimited("api")
		String again() {
			return "served";
		}

		@GetMapping("/denied")
		@RateLimited("closed")
		String denied() {
			return "served";
		}

		@Bean
		static Calls calls() {
			return new Calls();
		}

		/** Comes before the limiter. */
		@Bean
		static FilterRegistrationBean<CallingFilter> earlyFilter(Calls calls) {
			return filter(calls, "X-Call", Ordered.HIGHEST_PRECEDENCE + 1000);
		}

		/** Comes after the limiter. */
		@Bean
		static FilterRegistrationBean<CallingFilter> lateFilter(Calls calls) {
			return filter(calls, "X-Again", Ordered.LOWEST_PRECEDENCE);
		}

		private static FilterRegistrationBean<CallingFilter> filter(Calls calls, String header, int order) {
			FilterRegistrationBean<CallingFilter> filter = new FilterRegistrationBean<>(
					new CallingFilter(calls, header));
			filter.setName(header);
			filter.setOrder(order);
			return filter;
		}

	}

	static class Calls {

		private final AtomicInteger served = new AtomicInteger();

		public int served() {
			return this.served.get();
		}

		public void forget() {
			this.served.set(0);
		}

		@RateLimited("api")
		public void cheap() {
			this.served.incrementAndGet();
		}

		@RateLimited("early")
		public void early() {
			this.served.incrementAndGet();
		}

		@RateLimited(policy = "api", cost = 3)
		public void dear() {
			this.served.incrementAndGet();
		}

	}

	/** Calls what a header of the request names. */
	static final class CallingFilter extends OncePerRequestFilter {

		private final Calls calls;

		private final String header;

		CallingFilter(Calls calls, String header) {
			this.calls = calls;
			this.header = header;
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			String call = request.getHeader(this.header);
			if ("cheap".equals(call)) {
				this.calls.cheap();
			}
			else if ("dear".equals(call)) {
				this.calls.dear();
			}
			else if ("early".equals(call)) {
				this.calls.early();
			}
			chain.doFilter(request, response);
		}

		@Override
		protected String getAlreadyFilteredAttributeName() {
			return super.getAlreadyFilteredAttributeName() + this.header;
		}

	}

}
