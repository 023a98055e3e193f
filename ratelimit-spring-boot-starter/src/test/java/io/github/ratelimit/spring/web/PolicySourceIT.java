package io.github.ratelimit.spring.web;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.Plan;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies that a {@link PolicySource} changes while requests are served.
 */
@ExtendWith(OutputCaptureExtension.class)
@StartApplication("""
		ratelimit.policies:
		  keyed: { paths: /path, limits: 2/m, identifiers: header:X-Key, missing-identifier: deny }
		  method: { limits: 2/m, identifiers: header:X-Key, mode: shadow, missing-identifier: deny }
		""")
class PolicySourceIT {

	private static final AtomicInteger asked = new AtomicInteger();

	private static final PolicySource NOTHING = (policy, caller) -> policy;

	private static volatile PolicySource change = NOTHING;

	@Parameter
	TestApplication application;

	@BeforeEach
	void forget() {
		change = NOTHING;
	}

	/** The policy of the path enforces, and that of the method is in shadow mode. */
	@ParameterizedTest
	@CsvSource({ "/path, ENFORCE, deny, 403 403 403", "/path, SHADOW, deny, 200 200 200",
			"/path, ENFORCE, skip, 200 200 200", "/path, ENFORCE, ip, 200 200 429",
			"/method, SHADOW, deny, 200 200 200", "/method, ENFORCE, deny, 403 403 403" })
	void changedModeAndRuleForMissingIdentifierCountAtOnce(String path, Mode mode, String missing, String statuses) {
		change = (policy, caller) -> policy
			.withEnforcement(new Enforcement(mode, OnStoreFailure.ALLOW, null, MissingIdentifier.parse(missing)));
		assertThat(this.application.statuses(3, path)).extracting(String::valueOf).containsExactly(statuses.split(" "));
	}

	@Test
	void otherIdentifierForThoseWhoHaveNoneIsRefused(CapturedOutput output) {
		change = (policy, caller) -> policy.withEnforcement(new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW, null,
				new MissingIdentifier.Fallback("header:X-Other")));
		assertThat(this.application.get("/path").statusCode()).isEqualTo(403);
		assertThat(output).contains("The policy 'keyed' stays as configured")
			.contains("Invalid missing identifier (header:X-Other): must stay the same, or be skip, deny or ip.");
	}

	@Test
	void firstPlansCountForNobodyWithoutResolver() {
		change = (policy, caller) -> policy.withPlans(
				Map.of("free", new Plan(Policy.of(policy.policy().name(), new SlidingLog(), Limit.parse("9/m")))));
		assertThat(this.application.statuses(3, "/path", "X-Key", "a")).containsExactly(200, 200, 429);
		assertThat(this.application.decisions()).isEqualTo(3);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/path", "/method" })
	void sourceIsAskedOncePerPolicyOfARequest(String path) {
		change = (policy, caller) -> policy
			.withLimits(List.of(new Limit(policy.policy().limits().get(0).quota() + 1, Duration.ofMinutes(1))));
		asked.set(0);
		assertThat(this.application.get(path, "X-Key", "a").statusCode()).isEqualTo(200);
		assertThat(asked).hasValue(1);
	}

	@ParameterizedTest
	@CsvSource({ "/path, acme, 3", "/path, other, 1", "/method, acme, 3", "/method, other, 1" })
	void tenantHasItsOwnLimits(String path, String tenant, int quota) {
		change = (policy, caller) -> {
			Identifier who = caller.find("header:X-Tenant");
			long limit = (who != null && who.value().equals("acme")) ? 3 : 1;
			return policy.withLimits(List.of(new Limit(limit, Duration.ofMinutes(1))))
				.withEnforcement(new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW, null, MissingIdentifier.DENY));
		};
		for (int i = 0; i <= quota; i++) {
			assertThat(this.application.get(path, "X-Key", "a", "X-Tenant", tenant).statusCode())
				.isEqualTo((i < quota) ? 200 : 429);
		}
	}

	static class Application extends TestApplication.WithMethod {

		@Bean
		PolicySource policySource() {
			return (policy, caller) -> {
				asked.incrementAndGet();
				return change.current(policy, caller);
			};
		}

	}

}
