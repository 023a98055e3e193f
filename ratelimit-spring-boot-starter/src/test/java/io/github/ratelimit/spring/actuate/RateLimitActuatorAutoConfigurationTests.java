package io.github.ratelimit.spring.actuate;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.RateLimiterDecorator;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitNonWebAutoConfiguration;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.method.RateLimitMethodAutoConfiguration;
import io.github.ratelimit.spring.redis.RateLimitRedisAutoConfiguration;
import io.github.ratelimit.test.ManualClock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RateLimitActuatorAutoConfiguration}. No server is contacted.
 */
class RateLimitActuatorAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(Configurations.class)
		.withBean(RateLimiter.class, () -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")))
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimits", "ratelimit.policies.api.limits=1/m",
				"ratelimit.policies.api.identifiers=global");

	private final ApplicationContextRunner fullRunner = this.runner
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean(ObservationRegistry.class, TestObservationRegistry::create);

	@Test
	void metricsAndObservationBackOffWithoutTheirRegistries() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(Decider.class)
			.hasSingleBean(RateLimitsEndpoint.class)
			.doesNotHaveBean(RateLimitMetrics.class)
			.doesNotHaveBean(StoreObservation.class));
	}

	/** Each alone, and all together. */
	@Test
	void eachBacksOffWithoutItsOwnClasses() {
		Map<String, List<String>> classes = Map.of("rateLimitMetrics", List.of("io.micrometer.core"),
				"ratelimitHealthIndicator", List.of(HealthIndicator.class.getName()), "rateLimitsEndpoint",
				List.of(WebEndpoint.class.getName(), ConditionalOnAvailableEndpoint.class.getName()));
		classes.forEach((bean, missing) -> this.fullRunner
			.withClassLoader(new FilteredClassLoader(missing.toArray(String[]::new)))
			.run((context) -> assertThat(context).hasNotFailed()
				.getBeanNames(Object.class)
				.doesNotContain(bean)
				.contains(Stream.concat(classes.keySet().stream(), Stream.of("rateLimitStoreObservation"))
					.filter((other) -> !other.equals(bean))
					.toArray(String[]::new))));
		this.runner
			.withClassLoader(new FilteredClassLoader("io.micrometer", "org.springframework.boot.actuate",
					"org.springframework.boot.health"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(Decider.class)
				.getBeanNames(Object.class)
				.doesNotContain("rateLimitStoreObservation")
				.doesNotContainAnyElementsOf(classes.keySet()));
	}

	@ParameterizedTest
	@CsvSource({ "ratelimit.enabled=false, false, false",
			"management.endpoints.web.exposure.include=health, false, true",
			"management.endpoint.ratelimits.access=NONE, false, true",
			"management.health.ratelimit.enabled=false, true, false" })
	void endpointAndHealthAreThereOnlyWhenWanted(String property, boolean endpoint, boolean health) {
		this.fullRunner.withPropertyValues(property).run((context) -> {
			assertThat(context.getBeansOfType(RateLimitsEndpoint.class)).hasSize(endpoint ? 1 : 0);
			assertThat(context.getBeansOfType(MostDenied.class)).hasSize(endpoint ? 1 : 0);
			assertThat(context.getBeansOfType(RateLimitHealthIndicator.class)).hasSize(health ? 1 : 0);
			assertThat(context.getBeansOfType(RateLimitMetrics.class)).hasSize((endpoint || health) ? 1 : 0);
			assertThat(context.getBeansOfType(StoreObservation.class)).hasSize((endpoint || health) ? 1 : 0);
		});
	}

	@Test
	void deniedAreCountedOnlyWhereEndpointShowsThem() {
		this.runner.run((context) -> {
			PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
			IntStream.range(0, 3).forEach((i) -> limiter.tryAcquire("api"));
			assertThat(denied(context).getBody()).asString()
				.startsWith("{denied=[Denied[policy=api, identifier=global:, outcome=denied, requests=2,");
		});
		this.runner.withPropertyValues("ratelimit.most-denied.enabled=false").run((context) -> {
			assertThat(context).doesNotHaveBean(MostDenied.class);
			assertThat(denied(context).getStatus()).isEqualTo(404);
			assertThat(denied(context).getBody())
				.hasToString("{error=Denied requests are not counted: ratelimit.most-denied.enabled is false.}");
		});
		this.runner.withPropertyValues("ratelimit.most-denied.enabled=treu")
			.run((context) -> assertThat(context).hasFailed());
	}

	/** A hash would be hashed once more, and mean nobody. */
	@Test
	void hashesAreShownButNotAcceptedWhereIdentifiersAreHashed() {
		this.runner
			.withPropertyValues("ratelimit.policies.keys.limits=1/d", "ratelimit.policies.keys.identifiers=code:key",
					"ratelimit.identifier-secret=pepper")
			.run((context) -> {
				Identifier key = new Identifier("code:key", "secret");
				String hash = RedisRateLimiter.hashed(key, "pepper").toString();
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				IntStream.range(0, 3).forEach((i) -> limiter.tryAcquire("keys", key));
				assertThat(denied(context).getBody()).asString()
					.startsWith(
							"{denied=[Denied[policy=keys, identifier=%s, outcome=denied, requests=2,".formatted(hash));
				RateLimitsEndpoint endpoint = context.getBean(RateLimitsEndpoint.class);
				assertThat(endpoint.read("denied", key.toString(), "keys", "1", null).getBody()).asString()
					.contains(hash)
					.doesNotContain("secret");
				assertThat(endpoint.read("counts", hash, null, null, null).getStatus()).isEqualTo(400);
				assertThat(endpoint.write("blocks", hash, null, "1h", null).getBody()).hasToString(
						"{error=Invalid identifier (%s): is a hash. Name the identifier itself, such as ip:203.0.113.7.}"
							.formatted(hash));
			});
	}

	private static WebEndpointResponse<Object> denied(ApplicationContext context) {
		return context.getBean(RateLimitsEndpoint.class).read("denied", null, null, null, null);
	}

	@Test
	void addressIsLeftAsItIsWithoutWeb() {
		this.runner.run((context) -> {
			WebEndpointResponse<Object> counts = context.getBean(RateLimitsEndpoint.class)
				.read("counts", "ip:10.0.0.0/8", "api", null, null);
			assertThat(counts.getStatus()).isEqualTo(200);
			assertThat(counts.getBody()).asString().contains("identifier=ip:10.0.0.0/8,");
		});
	}

	@Test
	void answersOfEndpointCanBeWrittenInNativeImage() {
		RuntimeHints hints = new RuntimeHints();
		new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints,
				RateLimitActuatorAutoConfiguration.EndpointConfiguration.class);
		for (Class<?> answer : List.of(RateLimitsDescriptor.class, RateLimitsDescriptor.PolicyDescriptor.class,
				RateLimitsDescriptor.CountsDescriptor.class, RateLimitsDescriptor.LimitDescriptor.class,
				RateLimitsDescriptor.BlockDescriptor.class, LogEntry.class, MostDenied.Denied.class)) {
			assertThat(RuntimeHintsPredicates.reflection().onType(answer)).as(answer.getName()).accepts(hints);
		}
	}

	@Test
	void metersOfAllPoliciesAreThereFromTheStart() {
		this.fullRunner.withBean(Limited.class).run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			assertThat(registry.get("ratelimit.decisions").timers())
				.extracting((timer) -> timer.getId().getTag("policy"))
				.containsOnly("api", "Limited.call");
			assertThat(registry.get("ratelimit.store.failing").gauge().value()).isZero();
			context.getBean(PolicyLimiter.class).tryAcquire("api");
			assertThat(registry.get("ratelimit.decisions")
				.tags("policy", "api", "outcome", "allowed", "source", "store")
				.timer()
				.count()).isEqualTo(1);
			TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
				.hasSingleObservationThat()
				.hasNameEqualTo("ratelimit.store");
		});
	}

	@Test
	void decoratorOfApplicationIsUsedForDecisionsOnly() {
		AtomicInteger decorated = new AtomicInteger();
		this.runner.withBean(RateLimiterDecorator.class, () -> (limiter) -> {
			decorated.incrementAndGet();
			return limiter;
		}).run((context) -> {
			assertThat(context).hasSingleBean(RateLimiter.class).hasSingleBean(Decider.class);
			assertThat(decorated).hasValue(1);
		});
	}

	/**
	 * Imported by name, as in an application: annotations of missing classes are ignored.
	 */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, RateLimitAutoConfiguration.class,
			RateLimitRedisAutoConfiguration.class, RateLimitMethodAutoConfiguration.class,
			RateLimitNonWebAutoConfiguration.class, RateLimitActuatorAutoConfiguration.class })
	static class Configurations {

	}

	static class Limited {

		@RateLimited(limits = "1/m", identifiers = "global")
		void call() {
		}

	}

}
