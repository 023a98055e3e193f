package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.PolicyUse;
import jakarta.servlet.DispatcherType;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

class RequestStateTests {

	private final RequestState state = RequestState.of(new MockHttpServletRequest());

	private final PathUse use = use();

	private static PathUse use() {
		IdentifiedPolicy policy = new IdentifiedPolicy(Policy.of("api", new FixedWindow(), Limit.parse("1/m")),
				List.of("user"));
		PolicyUse use = new PolicyUse(policy, 1, Map.of());
		return new PathUse(use, use, List.of("/**"), false);
	}

	/** As Spring Security does with a page for those who are refused. */
	@Test
	void useIsLeftToForwardThatBeginsBetweenTheFilters() {
		assertThat(this.state.isFirstUse("api")).isTrue();
		this.state.leave(List.of(this.use), DispatcherType.REQUEST);
		assertThat(this.state.isFirstUse("api")).isFalse();
		this.state.leave(List.of(), DispatcherType.FORWARD);
		assertThat(this.state.takeLeft()).containsExactly(this.use);
		assertThat(this.state.takeLeft()).isEmpty();
	}

	@Test
	void errorPageDecidesNothingThatWasLeft() {
		this.state.leave(List.of(this.use), DispatcherType.REQUEST);
		this.state.leave(List.of(), DispatcherType.ERROR);
		assertThat(this.state.takeLeft()).isEmpty();
	}

}
