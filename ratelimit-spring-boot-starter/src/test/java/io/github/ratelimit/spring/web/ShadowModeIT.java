package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/**
 * A policy in shadow mode on the path of an enforced one.
 */
@EachContainer
class ShadowModeIT {

	@Parameter
	Container container;

	private static final Map<String, Outcome> outcomes = new ConcurrentHashMap<>();

	@Test
	void bothAreDecidedInOneCallAndOnlyOneIsSeen() {
		try (TestApplication application = TestApplication.start(this.container, Application.class,
				"ratelimit.policies.api.paths=/api", "ratelimit.policies.api.limits=2/m",
				"ratelimit.policies.tried.paths=/api", "ratelimit.policies.tried.limits=1/m",
				"ratelimit.policies.tried.mode=shadow")) {
			HttpResponse<String> allowed = application.get("/api");
			assertThat(allowed.headers().allValues("RateLimit")).containsExactly("\"api\";r=1;t=60");
			assertThat(application.decisions()).isEqualTo(1);
			assertThat(outcomes).containsOnly(entry("api", Outcome.ALLOWED), entry("tried", Outcome.ALLOWED));

			HttpResponse<String> deniedInShadow = application.get("/api");
			assertThat(deniedInShadow.statusCode()).isEqualTo(200);
			assertThat(deniedInShadow.headers().allValues("RateLimit")).containsExactly("\"api\";r=0;t=60");
			assertThat(application.decisions()).isEqualTo(2);
			assertThat(outcomes).containsOnly(entry("api", Outcome.ALLOWED), entry("tried", Outcome.SHADOW_DENIED));

			outcomes.clear();
			HttpResponse<String> denied = application.get("/api");
			assertThat(denied.statusCode()).isEqualTo(429);
			assertThat(denied.body()).contains("\"violated-policies\":[\"api\"]");
			assertThat(application.decisions()).isEqualTo(3);
			assertThat(outcomes).containsOnly(entry("api", Outcome.DENIED));
		}
	}

	static class Application extends TestApplication.Served {

		@Bean
		DecisionListener listener() {
			return (decision) -> outcomes.put(decision.charge().policy().name(), decision.outcome());
		}

	}

}
