package io.github.ratelimit.spring.web.identify;

import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.ManualClock;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link UserPlans}, and for what the log tells of plans that no policy lists.
 */
@ExtendWith(OutputCaptureExtension.class)
class UserPlansTests {

	private static final String UNLISTED = "is in no policy, so that the limits without a plan apply.";

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean(MemoryRateLimiter.class, () -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")))
		.withPropertyValues("ratelimit.policies.api.limits=10/m", "ratelimit.policies.api.paths=/api/**",
				"ratelimit.policies.api.plans.pro.limits=100/m", "ratelimit.plan=#principal.name");

	private final Map<String, String> plans = new HashMap<>(Map.of("anna", "pro"));

	private final List<String> asked = new ArrayList<>();

	private final List<String> found = new ArrayList<>();

	private boolean failing;

	private long nanos;

	@Test
	void planOfUserIsKeptForTheTimeToLive() {
		UserPlans kept = plans(Duration.ofMinutes(1));
		assertThat(kept.find(request("anna"))).isEqualTo("pro");
		this.plans.put("anna", "free");
		this.nanos += Duration.ofSeconds(59).toNanos();
		assertThat(kept.find(request("anna"))).isEqualTo("pro");
		this.nanos += Duration.ofSeconds(1).toNanos();
		assertThat(kept.find(request("anna"))).isEqualTo("free");
		assertThat(this.asked).containsExactly("anna", "anna");
		assertThat(this.found).containsExactly("pro", "free");
	}

	@Test
	void thatUserHasNoPlanIsKeptAsWell() {
		UserPlans kept = plans(Duration.ofMinutes(1));
		this.plans.put("berta", "");
		for (int i = 0; i < 2; i++) {
			assertThat(kept.find(request("berta"))).isNull();
			assertThat(kept.find(request("carla"))).isNull();
		}
		assertThat(this.asked).containsExactly("berta", "carla");
	}

	@Test
	void planIsKeptForItsRequestWhenTtlIsZero() {
		UserPlans plans = plans(Duration.ZERO);
		MockHttpServletRequest request = request("anna");
		assertThat(plans.find(request)).isEqualTo("pro");
		this.plans.put("anna", "free");
		assertThat(plans.find(request)).isEqualTo("pro");
		assertThat(plans.find(request("anna"))).isEqualTo("free");
		request.setUserPrincipal(() -> "berta");
		assertThat(plans.find(request)).isNull();
	}

	@Test
	void resolverIsNotCalledWithoutUser() {
		UserPlans plans = plans(Duration.ofMinutes(1));
		assertThat(plans.find(new MockHttpServletRequest())).isNull();
		MockHttpServletRequest nameless = new MockHttpServletRequest();
		nameless.setUserPrincipal(() -> null);
		assertThat(plans.find(nameless)).isNull();
		assertThat(this.asked).isEmpty();
	}

	@Test
	void whyPlansAreNotKnownIsLoggedOnce(CapturedOutput output) {
		UserPlans plans = plans(Duration.ofMinutes(1));
		UserPlans none = new UserPlans(null, Duration.ofMinutes(1), this.found::add, () -> this.nanos);
		this.failing = true;
		for (String user : List.of("anna", "berta")) {
			assertThat(plans.find(request(user))).isNull();
			assertThat(none.find(request(user))).isNull();
		}
		this.failing = false;
		assertThat(plans.find(request("anna"))).isEqualTo("pro");
		assertThat(output).containsOnlyOnce("apply: java.lang.IllegalStateException.")
			.containsOnlyOnce("apply: a PolicySource returned a policy with plans, but there is neither ratelimit.plan")
			.doesNotContain("anna");
	}

	@Test
	void planThatNoPolicyListsIsToldOnce(CapturedOutput output) {
		this.runner
			.withPropertyValues("ratelimit.plan-cache-ttl=0", "ratelimit.policies.other.limits=1/m",
					"ratelimit.policies.other.plans.gold.limits=2/m")
			.run((context) -> {
				UserPlans plans = context.getBean(UserPlans.class);
				for (String plan : List.of("pro", "gold", "Pro", "Pro", "gold\nplated")) {
					assertThat(plans.find(request(plan))).isEqualTo(plan);
				}
				assertThat(output.toString().lines().filter((line) -> line.contains(UNLISTED))).satisfiesExactly(
						(line) -> assertThat(line).contains("The plan 'Pro' of a user",
								"Did you mean 'pro'? The plans of policies are [gold, pro]"),
						(line) -> assertThat(line).contains("The plan 'gold?plated' of a user"));
			});
	}

	@Test
	void planThatCodeNamesIsToldOnce(CapturedOutput output) {
		this.runner.withPropertyValues("ratelimit.policies.mail.limits=1/m", "ratelimit.policies.mail.identifiers=user")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				for (String plan : List.of("pro", "prop", "prop")) {
					limiter.peek(PolicyLimiter.Use.of("mail", Identifier.user("a")).withPlan(plan));
				}
				assertThat(output.toString().lines().filter((line) -> line.contains(UNLISTED))).singleElement()
					.asString()
					.contains("The plan 'prop' of a user");
			});
	}

	@Test
	void nothingIsToldWhenPoliciesMayGetPlans(CapturedOutput output) {
		this.runner.withBean(PolicySource.class, () -> (policy, caller) -> policy).run((context) -> {
			assertThat(context.getBean(UserPlans.class).find(request("other"))).isEqualTo("other");
			assertThat(output).doesNotContain(UNLISTED);
		});
	}

	private UserPlans plans(Duration ttl) {
		return new UserPlans(this::resolve, ttl, this.found::add, () -> this.nanos);
	}

	private String resolve(Principal user, HttpServletRequest request) {
		this.asked.add(user.getName());
		if (this.failing) {
			throw new IllegalStateException("no answer for " + user.getName());
		}
		return this.plans.get(user.getName());
	}

	private static MockHttpServletRequest request(String user) {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.setUserPrincipal(() -> user);
		return request;
	}

}
