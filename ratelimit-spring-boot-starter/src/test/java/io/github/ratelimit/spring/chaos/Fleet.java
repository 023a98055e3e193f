package io.github.ratelimit.spring.chaos;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Several instances of an application, which share a Redis.
 */
final class Fleet implements AutoCloseable {

	/** More than any test uses up. */
	static final long QUOTA = 1_000_000_000;

	private final HttpClient client = HttpClient.newHttpClient();

	private final List<ConfigurableApplicationContext> instances;

	Fleet(int size, String... properties) {
		this.instances = IntStream.range(0, size).mapToObj((instance) -> start(properties)).toList();
	}

	private static ConfigurableApplicationContext start(String... properties) {
		return new SpringApplicationBuilder(Application.class)
			.properties("server.port=0", "spring.main.banner-mode=off", "ratelimit.policies.api.paths=/api",
					"ratelimit.policies.api.algorithm=fixed-window", "ratelimit.policies.api.limits=" + QUOTA + "/365d",
					"ratelimit.policies.api.identifiers=header:X-User")
			.properties(properties)
			.run();
	}

	/** Where each instance answers. */
	List<URI> addresses() {
		return this.instances.stream().map((instance) -> address(instance, "/api")).toList();
	}

	static URI address(ConfigurableApplicationContext instance, String path) {
		return URI.create("http://127.0.0.1:" + instance.getEnvironment().getProperty("local.server.port") + path);
	}

	/** Whether every instance limits the next request, and says so in its metrics. */
	boolean limits(List<String> users) {
		return addresses().stream()
			.allMatch((address) -> users.stream().allMatch((user) -> remaining(address, user).isPresent()))
				&& reporting().isEmpty()
				&& this.instances.stream().allMatch((instance) -> gauge(instance, "ratelimit.breaker.open") == 0);
	}

	/** Whether the metrics of every instance say that limits are not enforced. */
	boolean reportsOutage() {
		return reporting().size() == this.instances.size();
	}

	/** The numbers of instances whose metrics say that limits are not enforced. */
	Set<Integer> reporting() {
		return IntStream.range(0, this.instances.size())
			.filter((instance) -> gauge(this.instances.get(instance), "ratelimit.store.failing") == 1)
			.boxed()
			.collect(Collectors.toSet());
	}

	private static double gauge(ConfigurableApplicationContext instance, String name) {
		return instance.getBean(MeterRegistry.class).get(name).gauge().value();
	}

	/**
	 * How much of the quota a user has used, as soon as a busy machine lets it be asked
	 * in time.
	 */
	long used(String user) {
		RateLimitRequest request = RateLimitRequest.of(charge(user, 1));
		RateLimiter limiter = this.instances.get(0).getBean(RateLimiter.class);
		return QUOTA - Awaitility.await()
			.atMost(Trial.SOON)
			.ignoreExceptionsInstanceOf(StoreException.class)
			.until(() -> limiter.peek(request).statuses().get(0).remaining(), (remaining) -> true);
	}

	/**
	 * Uses up the quota of a user but for so much, on behalf of nobody.
	 * @return what was used up
	 */
	long leave(String user, long left) {
		long cost = QUOTA - used(user) - left;
		this.instances.get(0).getBean(RateLimiter.class).charge(RateLimitRequest.of(charge(user, cost)));
		return cost;
	}

	private Charge charge(String user, long cost) {
		Policy policy = this.instances.get(0).getBean(ConfiguredPolicies.class).find("api").orElseThrow().policy();
		return new Charge(policy, List.of(new Identifier("header:X-User", user)), cost);
	}

	private OptionalLong remaining(URI address, String user) {
		HttpRequest request = HttpRequest.newBuilder(address).header("X-User", user).build();
		return this.client.sendAsync(request, BodyHandlers.discarding())
			.join()
			.headers()
			.firstValueAsLong("X-Rate-Limit-Remaining");
	}

	@Override
	public void close() {
		this.instances.forEach(ConfigurableApplicationContext::close);
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/api")
		String get() {
			return "served";
		}

		@Bean
		static MeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

	}

}
