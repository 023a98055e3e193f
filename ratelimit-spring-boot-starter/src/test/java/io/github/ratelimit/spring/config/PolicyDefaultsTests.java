package io.github.ratelimit.spring.config;

import java.time.InstantSource;
import java.util.List;

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
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.policy.Mode;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What policies are where they do not say otherwise.
 */
class PolicyDefaultsTests {

	@Test
	void policiesAreAsDefaultsSayUnlessTheySayOtherwise() {
		StarterRunners.web()
			.withBean(RateLimiter.class, () -> new MemoryRateLimiter(InstantSource.system()))
			.withBean(Limited.class)
			.withPropertyValues("ratelimit.defaults.identifiers=header:X-Key,user",
					"ratelimit.defaults.algorithm=fixed-window", "ratelimit.defaults.missing-identifier=skip",
					"ratelimit.defaults.count-denied=true", "ratelimit.defaults.mode=shadow",
					"ratelimit.defaults.on-store-failure=deny", "ratelimit.policies.api.limits=1/m",
					"ratelimit.policies.other.limits=1/m", "ratelimit.policies.other.identifiers=user",
					"ratelimit.policies.other.algorithm=sliding-log", "ratelimit.policies.other.missing-identifier=ip",
					"ratelimit.policies.other.count-denied=false", "ratelimit.policies.other.mode=enforce",
					"ratelimit.policies.other.on-store-failure=allow")
			.run((context) -> {
				ConfiguredPolicies policies = context.getBean(ConfiguredPolicies.class);
				assertIsDefault(policies.find("api").orElseThrow());
				assertThat(policies.find("other")).contains(
						new IdentifiedPolicy(Policy.of("other", new SlidingLog(), Limit.parse("1/m")), List.of("user"),
								new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW, null, MissingIdentifier.ADDRESS)));
				assertThat(context.getBean(AnnotatedPolicies.class).byPlace().values()).flatExtracting((found) -> found)
					.anySatisfy((found) -> {
						assertThat(found.policy().name()).isEqualTo("Limited.inPlace");
						assertIsDefault(found);
					})
					.anySatisfy((found) -> {
						assertThat(found.policy().name()).isEqualTo("Limited.own");
						assertThat(found.policy().algorithm()).isEqualTo(new SlidingLog());
						assertThat(found.identifiers()).containsExactly("ip");
					});
			});
	}

	private static void assertIsDefault(IdentifiedPolicy policy) {
		assertThat(policy).isEqualTo(new IdentifiedPolicy(
				new Policy(policy.policy().name(), new FixedWindow(), policy.policy().limits(), true),
				List.of("header:X-Key", "user"),
				new Enforcement(Mode.SHADOW, OnStoreFailure.DENY, null, MissingIdentifier.SKIP)));
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
