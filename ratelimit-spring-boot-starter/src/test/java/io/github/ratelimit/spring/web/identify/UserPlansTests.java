package io.github.ratelimit.spring.web.identify;

import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.spring.PlanResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link UserPlans}.
 */
@ExtendWith(OutputCaptureExtension.class)
class UserPlansTests {

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
