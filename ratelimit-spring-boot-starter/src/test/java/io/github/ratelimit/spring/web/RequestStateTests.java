package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.web.RequestState.DeferredUse;
import jakarta.servlet.DispatcherType;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

class RequestStateTests {

	private final RequestState state = RequestState.of(new MockHttpServletRequest());

	private final DeferredUse use = use();

	private static DeferredUse use() {
		IdentifiedPolicy policy = new IdentifiedPolicy(Policy.of("api", new FixedWindow(), Limit.parse("1/m")),
				List.of("user"));
		return new DeferredUse(new PolicyUse(policy, 1, Map.of(), List.of("/**")), false, false);
	}

	/** As the access denied page of Spring Security. */
	@Test
	void useIsDeferredToForwardBetweenTheFilters() {
		assertThat(this.state.addPolicy("api")).isTrue();
		this.state.defer(List.of(this.use), DispatcherType.REQUEST);
		assertThat(this.state.addPolicy("api")).isFalse();
		this.state.defer(List.of(), DispatcherType.FORWARD);
		assertThat(this.state.takeDeferred()).containsExactly(this.use);
		assertThat(this.state.takeDeferred()).isEmpty();
	}

	@Test
	void errorPageDropsDeferredUses() {
		this.state.defer(List.of(this.use), DispatcherType.REQUEST);
		this.state.defer(List.of(), DispatcherType.ERROR);
		assertThat(this.state.takeDeferred()).isEmpty();
	}

	@Test
	void requestRunsWhileServedOrOpen() {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.setAsyncSupported(true);
		RequestState running = RequestState.of(request);
		assertThat(running.isRunning()).isTrue();
		running.serve(null);
		assertThat(running.isRunning()).isFalse();
		request.startAsync();
		running.endDispatch(request, null);
		assertThat(running.isRunning()).isTrue();
		request.setAsyncStarted(false);
		assertThat(running.isRunning()).isFalse();
		running.serve(new Thread(() -> {
		}));
		assertThat(running.isRunning()).isFalse();
	}

}
