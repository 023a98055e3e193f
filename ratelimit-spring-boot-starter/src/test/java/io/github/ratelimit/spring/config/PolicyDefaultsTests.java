package io.github.ratelimit.spring.config;

import java.time.InstantSource;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.policy.Mode;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What policies are where they do not say otherwise.
 */
class PolicyDefaultsTests {

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean(RateLimiter.class, () -> new MemoryRateLimiter(InstantSource.system()))
		.withPropertyValues("ratelimit.defaults.identifiers=header:X-Key,user",
				"ratelimit.defaults.algorithm=fixed-window", "ratelimit.defaults.missing-identifier=skip",
				"ratelimit.defaults.count-denied=true", "ratelimit.defaults.mode=shadow",
				"ratelimit.defaults.on-store-failure=deny", "ratelimit.policies.api.limits=1/m");

	@Test
	void policyIsAsDefaultsSay() {
		this.runner.run((context) -> assertIsDefault(policy(context.getBean(ConfiguredPolicies.class), "api")));
	}

	@Test
	void policyThatIsWrittenInPlaceIsAsDefaultsSay() {
		this.runner.withBean(Limited.class)
			.run((context) -> assertThat(context.getBean(AnnotatedPolicies.class).byPlace().values())
				.flatExtracting((policies) -> policies)
				.anySatisfy((found) -> {
					assertThat(found.policy().name()).isEqualTo("Limited.inPlace");
					assertIsDefault(found);
				})
				.anySatisfy((found) -> {
					assertThat(found.policy().name()).isEqualTo("Limited.own");
					assertThat(found.policy().algorithm()).isEqualTo(new SlidingLog());
					assertThat(found.identifiers()).containsExactly("ip");
				}));
	}

	private static void assertIsDefault(IdentifiedPolicy policy) {
		assertThat(policy.identifiers()).containsExactly("header:X-Key", "user");
		assertThat(policy.policy())
			.isEqualTo(new Policy(policy.policy().name(), new FixedWindow(), policy.policy().limits(), true));
		assertThat(policy.enforcement().missing()).isEqualTo(MissingIdentifier.SKIP);
		assertThat(policy.enforcement().mode()).isEqualTo(Mode.SHADOW);
		assertThat(policy.enforcement().onStoreFailure()).isEqualTo(OnStoreFailure.DENY);
	}

	@Test
	void policyMaySayOtherwise() {
		this.runner
			.withPropertyValues("ratelimit.policies.api.identifiers=user",
					"ratelimit.policies.api.algorithm=sliding-log", "ratelimit.policies.api.missing-identifier=ip",
					"ratelimit.policies.api.count-denied=false", "ratelimit.policies.api.mode=enforce",
					"ratelimit.policies.api.on-store-failure=allow")
			.run((context) -> {
				IdentifiedPolicy policy = policy(context.getBean(ConfiguredPolicies.class), "api");
				assertThat(policy.identifiers()).containsExactly("user");
				assertThat(policy.policy()).isEqualTo(Policy.of("api", new SlidingLog(), Limit.parse("1/m")));
				assertThat(policy.enforcement().missing()).isEqualTo(MissingIdentifier.ADDRESS);
				assertThat(policy.enforcement().mode()).isEqualTo(Mode.ENFORCE);
				assertThat(policy.enforcement().onStoreFailure()).isEqualTo(OnStoreFailure.ALLOW);
			});
	}

	private static IdentifiedPolicy policy(ConfiguredPolicies policies, String name) {
		return policies.find(name).orElseThrow();
	}

	static class Limited {

		@RateLimited(limits = "1/s")
		public void inPlace() {
		}

		@RateLimited(limits = "1/s", algorithm = "sliding-log", identifiers = "ip")
		public void own() {
		}

	}

}
