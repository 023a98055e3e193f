package io.github.ratelimit.spring.web;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.spring.web.RequestState.DeferredUse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Logs policies that were decided without a user although a filter sets one, because that
 * filter runs after those of the limiter. It is logged once for each policy. It looks for
 * the user before the handler runs, which may log users in.
 * <p>
 * Safe for use by several threads.
 */
final class LateUsers implements HandlerInterceptor {

	private static final Logger logger = LoggerFactory.getLogger(LateUsers.class);

	private final int afterLogin;

	/** Names of the policies that were logged. */
	private final Set<String> logged = ConcurrentHashMap.newKeySet();

	/**
	 * Creates an interceptor.
	 * @param afterLogin order of the filter after the login
	 */
	LateUsers(int afterLogin) {
		this.afterLogin = afterLogin;
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		RequestState state = RequestState.find(request);
		if (state != null) {
			for (DeferredUse each : state.takeWithoutUser()) {
				log(each.use().policy().policy().name(), request);
			}
		}
		return true;
	}

	private void log(String policy, HttpServletRequest request) {
		if (!this.logged.contains(policy) && request.getUserPrincipal() != null && this.logged.add(policy)) {
			logger.warn(
					"The policy '{}' has decided a request without its user, whom a filter after those of the"
							+ " limiter has set. If that filter logs users in, give it an order below"
							+ " ratelimit.filter.after-login-order ({}), or raise that. This is logged once",
					policy, this.afterLogin);
		}
	}

}
