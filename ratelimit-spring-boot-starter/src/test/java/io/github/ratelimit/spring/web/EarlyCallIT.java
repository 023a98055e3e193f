package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests in which filters of the application call limited methods, before and after the
 * path is limited by the same policy.
 */
@StartApplication("""
		ratelimit.policies:
		  api: { paths: /api, routes: [{ paths: /dear, cost: 3 }], limits: 5/m }
		""")
class EarlyCallIT {

	@Parameter
	TestApplication application;

	@BeforeEach
	void forget() {
		this.application.bean(Calls.class).forget();
	}

	@Test
	void callAndPathPayEachTheirCost() {
		HttpResponse<String> response = this.application.get("/dear", "X-Call", "cheap");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().firstValue("RateLimit")).hasValue("\"api\";r=1;t=60");
		this.application.assertUsed("api", 1 + 3);
	}

	@Test
	void callsThatFollowThePathPayAsWell() {
		assertThat(this.application.get("/api", "X-Call", "dear", "X-Again", "cheap").statusCode()).isEqualTo(200);
		this.application.assertUsed("api", 3 + 1 + 1);
	}

	@Test
	void callStaysPaidWhenThePathIsDenied() {
		assertThat(this.application.get("/dear").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = this.application.get("/dear", "X-Call", "cheap");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(this.application.bean(Calls.class).served()).isOne();
		this.application.assertUsed("api", 3 + 1);
	}

	@Test
	void requestIsAnsweredWhenTheCallOfAFilterIsDenied() {
		assertThat(this.application.get("/dear").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = this.application.get("/unlimited", "X-Call", "dear");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
		assertThat(this.application.bean(Calls.class).served()).isZero();
	}

	static class Application extends TestApplication.Served {

		@GetMapping("/dear")
		String dear() {
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
			chain.doFilter(request, response);
		}

		@Override
		protected String getAlreadyFilteredAttributeName() {
			return super.getAlreadyFilteredAttributeName() + this.header;
		}

	}

}
