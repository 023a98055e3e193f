package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.sun.management.ThreadMXBean;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.ManualClock;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How many bytes of garbage the filters make for a request, which does not depend on the
 * machine: what the thread of the request allocates, in the round in which it was least.
 */
class FilterGarbageTests {

	private static final Logger logger = LoggerFactory.getLogger(FilterGarbageTests.class);

	private static final int WARM_UP = 5_000;

	private static final int ROUNDS = 10;

	private static final int REQUESTS = 500;

	/** Bytes for each of them; a request with one policy makes more than 6,000. */
	private static final long MOST_OF_OTHER_POLICY = 48;

	/** Bytes, with room for other JVMs. */
	private static final long MOST_OF_CONDITION = 4000;

	private static final String PLAIN = "limits=1000000/h";

	private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean(RateLimiter.class, () -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")));

	@ParameterizedTest
	@ValueSource(strings = { PLAIN, PLAIN + ";identifiers=ip,user", PLAIN + ";exclude=/api/*/logo",
			"limits=1000000/h,9000000/d;identifiers=ip,header:X-Key;when=#request.secure;exclude=/api/*/logo" })
	void policiesThatDoNotMatchMakeLittleGarbage(String policy) {
		long one = garbage(1, policy);
		long ten = garbage(10, policy);
		logger.info("{}: {} bytes a request with one policy, {} with ten", policy, one, ten);
		assertThat(ten - one).isLessThanOrEqualTo(9 * MOST_OF_OTHER_POLICY);
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "#request.secure", "#request.getHeader('X-Key') == 'a'", "#request.requestURL.length() > 1" })
	void conditionMakesLittleGarbage(String condition) {
		long bytes = garbage(1, PLAIN + ";when=" + condition) - garbage(1, PLAIN);
		logger.info("{}: {} bytes a request", condition, bytes);
		assertThat(bytes).isLessThanOrEqualTo(MOST_OF_CONDITION);
	}

	/** Bytes a request, of which the first policy matches. */
	private long garbage(int policies, String policy) {
		String[] properties = IntStream.range(0, policies)
			.boxed()
			.flatMap((i) -> Stream.concat(Stream.of("paths=/api/p" + i + "/**"), Stream.of(policy.split(";")))
				.map((property) -> "ratelimit.policies.p" + i + '.' + property))
			.toArray(String[]::new);
		long[] garbage = new long[1];
		this.runner.withPropertyValues(properties).run((context) -> garbage[0] = garbage(chain(context)));
		return garbage[0];
	}

	private static long garbage(FilterChain chain) throws ServletException, IOException {
		send(chain, WARM_UP);
		long least = Long.MAX_VALUE;
		for (int round = 0; round < ROUNDS; round++) {
			least = Math.min(least, send(chain, REQUESTS) / REQUESTS);
		}
		return least;
	}

	private static long send(FilterChain chain, int requests) throws ServletException, IOException {
		long bytes = 0;
		for (int i = 0; i < requests; i++) {
			bytes += send(chain);
		}
		return bytes;
	}

	/** Returns the bytes that the limiter has allocated. */
	private static long send(FilterChain chain) throws ServletException, IOException {
		MockHttpServletRequest request = new MockHttpServletRequest("GET", "/api/p0/item");
		request.setSecure(true);
		request.addHeader("X-Key", "a");
		MockHttpServletResponse response = new MockHttpServletResponse();
		long before = THREADS.getCurrentThreadAllocatedBytes();
		chain.doFilter(request, response);
		long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
		assertThat(response.getHeader("RateLimit")).startsWith("\"p0").doesNotContain("p1");
		return bytes;
	}

	/** All filters of the limiter, in their order. */
	private static FilterChain chain(ApplicationContext context) {
		List<FilterRegistrationBean<?>> filters = new ArrayList<>();
		context.getBeanProvider(FilterRegistrationBean.class)
			.orderedStream()
			.filter((registration) -> registration.isEnabled())
			.forEach((registration) -> filters.add(0, registration));
		assertThat(filters).isNotEmpty();
		FilterChain chain = (request, response) -> {
		};
		for (FilterRegistrationBean<?> filter : filters) {
			FilterChain next = chain;
			chain = (request, response) -> filter.getFilter().doFilter(request, response, next);
		}
		return chain;
	}

}
