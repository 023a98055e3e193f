package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import io.github.ratelimit.spring.decide.Decided;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.web.answer.RequestStatuses;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.DeferredResultProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncManager;
import org.springframework.web.context.request.async.WebAsyncUtils;

/**
 * What the limiter keeps of one request, in an attribute: the limits that were checked,
 * the charges to be settled at its end, and which policies of paths were decided. Each of
 * these is decided once in a request, whatever its dispatches.
 * <p>
 * Threads that serve one request in parallel get the same state. Only the methods for
 * paths are not safe for use by several threads: the dispatches of a request follow one
 * another.
 */
final class RequestState {

	private static final Logger logger = LoggerFactory.getLogger(RequestState.class);

	private static final String ATTRIBUTE = RequestState.class.getName();

	private final RequestStatuses statuses = new RequestStatuses();

	private final CostSettlement costs = new CostSettlement();

	/** Decisions that count the request among concurrent ones until it ends. */
	private final List<Decided> running = new ArrayList<>(0);

	/** Policies of paths that were decided. */
	private final List<String> policies = new ArrayList<>(2);

	private List<DeferredUse> deferred = List.of();

	private boolean denied;

	private boolean watched;

	private volatile boolean ended;

	/** The thread that serves the request; {@code null} between its dispatches. */
	private volatile @Nullable Thread serving = Thread.currentThread();

	/** The request, once other threads continue to serve it. */
	private volatile @Nullable ServletRequest continued;

	private RequestState() {
	}

	/** Returns the state of a request, and creates it if there is none. */
	static RequestState of(ServletRequest request) {
		RequestState found = find(request);
		if (found != null) {
			return found;
		}
		ServletRequest innermost = request;
		while (innermost instanceof ServletRequestWrapper wrapper) {
			innermost = wrapper.getRequest();
		}
		synchronized (innermost) {
			found = find(request);
			if (found == null) {
				found = new RequestState();
				request.setAttribute(ATTRIBUTE, found);
			}
			return found;
		}
	}

	/** Returns the state of a request; {@code null} if there is none. */
	static @Nullable RequestState find(ServletRequest request) {
		return (request.getAttribute(ATTRIBUTE) instanceof RequestState state) ? state : null;
	}

	RequestStatuses statuses() {
		return this.statuses;
	}

	CostSettlement costs() {
		return this.costs;
	}

	/** Adds what was decided, and what was used of limits. */
	void use(Decided decided, @Nullable HttpServletResponse response) {
		decided.used().forEach((charge) -> this.costs.add(charge, response));
		this.statuses.add(decided);
	}

	/** Counts the request among concurrent ones until it ends, if that was decided. */
	synchronized void run(Decided decided) {
		if (decided.isRunning()) {
			decided.watch(this::isRunning);
			this.running.add(decided);
		}
	}

	/** Notes which thread serves the request from now on; {@code null} for none. */
	void serve(@Nullable Thread thread) {
		this.serving = thread;
	}

	/** Returns whether a thread serves the request, or it is open for other threads. */
	boolean isRunning() {
		Thread thread = this.serving;
		ServletRequest request = this.continued;
		try {
			return (thread != null && thread.isAlive()) || (request != null && request.isAsyncStarted());
		}
		catch (RuntimeException ex) {
			// The container uses the object for other requests.
			return false;
		}
	}

	/** Ends the request now, or when the container says that other threads served it. */
	void endDispatch(ServletRequest request, Decider decider) {
		try {
			if (request.isAsyncStarted()) {
				request.getAsyncContext().addListener(new End(this, null, decider));
				this.continued = request;
				return;
			}
		}
		catch (IllegalStateException ex) {
			// Tomcat throws this when the client has disconnected.
		}
		end(decider);
	}

	/** Ends the request, and settles what it has used. Has no effect the second time. */
	void end(Decider decider) {
		this.ended = true;
		List<Decided> running;
		synchronized (this) {
			running = List.copyOf(this.running);
			this.running.clear();
		}
		running.forEach(Decided::end);
		this.costs.end().forEach((settlement) -> {
			try {
				decider.counted().settle(settlement.used(), settlement.cost());
			}
			catch (RuntimeException ex) {
				// The answer of the application is ready, and the others are settled.
				logger.warn("The cost of a request could not be settled", ex);
			}
		});
	}

	/** Returns whether what is used from now on is never settled. */
	boolean isEnded() {
		return this.ended;
	}

	/**
	 * Ends the request when another thread could not complete its response. Usually the
	 * client has disconnected, and servlet containers sometimes drop such a request
	 * without an event for its end: Tomcat 11.0 did in 11 of 60 attempts.
	 */
	synchronized void watch(HttpServletRequest request, HttpServletResponse response, Decider decider) {
		if (!this.watched) {
			this.watched = true;
			End end = new End(this, response, decider);
			WebAsyncManager manager = WebAsyncUtils.getAsyncManager(request);
			manager.registerCallableInterceptor(RequestState.class, end);
			manager.registerDeferredResultInterceptor(RequestState.class, end);
		}
	}

	/** Adds a policy of the path. Returns false if it was decided before. */
	boolean addPolicy(String policy) {
		return !this.policies.contains(policy) && this.policies.add(policy);
	}

	/**
	 * Defers uses to the filter after the login. Those of another dispatch that never
	 * came there are kept by a forward, which a filter between both may have started; an
	 * error page drops them.
	 */
	void defer(List<DeferredUse> uses, DispatcherType type) {
		this.deferred = (type == DispatcherType.FORWARD && !this.deferred.isEmpty())
				? Stream.concat(this.deferred.stream(), uses.stream()).toList() : uses;
	}

	List<DeferredUse> takeDeferred() {
		List<DeferredUse> deferred = this.deferred;
		this.deferred = List.of();
		return deferred;
	}

	/** Its error page must not be denied. */
	void deny() {
		this.denied = true;
	}

	boolean isDenied() {
		return this.denied;
	}

	/**
	 * A use of a policy that is decided after the login, wholly or in part.
	 *
	 * @param whole whether all of its identifiers are, because the policy had plans
	 * @param counted whether some of its identifiers were counted before the login
	 */
	record DeferredUse(PolicyUse use, boolean whole, boolean counted) {

	}

	/**
	 * The end of a request that other threads serve.
	 *
	 * @param response the one to watch; {@code null} if the container reports the end
	 */
	private record End(RequestState state, @Nullable HttpServletResponse response, Decider decider)
			implements
				AsyncListener,
				CallableProcessingInterceptor,
				DeferredResultProcessingInterceptor {

		@Override
		public void onComplete(AsyncEvent event) {
			this.state.end(this.decider);
		}

		@Override
		public void onTimeout(AsyncEvent event) {
		}

		@Override
		public void onError(AsyncEvent event) {
			this.state.costs.resetNothing();
		}

		@Override
		public void onStartAsync(AsyncEvent event) {
			// The dispatch that has started it is not over.
		}

		@Override
		public <T> void postProcess(NativeWebRequest request, Callable<T> task, @Nullable Object result) {
			endIfBroken(result);
		}

		@Override
		public <T> void postProcess(NativeWebRequest request, DeferredResult<T> deferred, @Nullable Object result) {
			endIfBroken(result);
		}

		private void endIfBroken(@Nullable Object result) {
			if (result instanceof Throwable && isCommitted()) {
				this.state.costs.resetNothing();
				this.state.end(this.decider);
			}
		}

		/** Returns true also if the container has recycled the response. */
		private boolean isCommitted() {
			try {
				return this.response != null && this.response.isCommitted();
			}
			catch (IllegalStateException ex) {
				return true;
			}
		}

	}

}
