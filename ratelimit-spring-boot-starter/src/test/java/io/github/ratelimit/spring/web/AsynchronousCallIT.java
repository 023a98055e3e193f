package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.security.Principal;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.micrometer.context.ContextSnapshotFactory;
import jakarta.annotation.PreDestroy;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Who is counted, and what clients get, when limited methods are called by other threads
 * than that of the request, or answer with publishers and futures.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  failures: { limits: 2/m, identifiers: ip, count-when: 'status in [4xx]' }
		  address: { limits: 2/m, identifiers: ip }
		  named: { limits: 1/m, identifiers: header:X-Tenant }
		  others: { limits: 1/m, identifiers: header:X-Tenant, when: "#request.getHeader('X-Other') != null" }
		  members: { limits: 1/m, identifiers: member }
		ratelimit.allow: header:X-Key:secret
		ratelimit.deny: [header:X-Key:mallory, user:mallory]
		""")
class AsynchronousCallIT extends WithApplication {

	private static final AtomicInteger calls = new AtomicInteger();

	private static final AtomicInteger askedWithoutUser = new AtomicInteger();

	@ParameterizedTest
	@ValueSource(strings = { "Results.future", "Results.mono", "Results.events", "Results.tenant",
			"SuspendingController.handler", "SuspendingResults.call" })
	void deniedRequestGets429AndHeaders(String policy) {
		String path = policy.replaceFirst(".*\\.", "/");
		HttpResponse<String> allowed = get(200, path);
		assertThat(allowed.body()).contains("called");
		assertThat(allowed.headers().firstValue("RateLimit")).hasValue('"' + policy + "\";r=0;t=60");
		HttpResponse<String> denied = get(429, path);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
		assertThat(denied.headers().allValues("RateLimit")).containsExactly('"' + policy + "\";r=0;t=60");
		assertThat(denied.body()).contains("quota-exceeded");
		assertThat(this.application.decisions()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/tenant", "/suspending-tenant" })
	void requestIdentifiesWhichThreadEverDecides(String path) {
		assertThat(this.application.statuses(2, path, "X-Tenant", "a")).containsExactly(200, 429);
		assertThat(this.application.get(path, "X-Tenant", "b").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/counted", "/counted-elsewhere", "/counted-suspending" })
	void costsAreSettledWhenRequestEnds(String path) {
		for (int i = 0; i < 3; i++) {
			assertThat(this.application.get(path).statusCode()).isEqualTo(200);
			this.application.assertUsed("failures", 0);
		}
	}

	/**
	 * Also on a thread that still holds the ended request, which the container may have
	 * given to another client.
	 */
	@Test
	void callerOutlivesItsRequestAndRequestDoesNot() throws Exception {
		for (String tenant : new String[] { "a", "b", "c" }) {
			assertThat(this.application.get("/kept", "X-Tenant", tenant).body()).isEqualTo("kept");
		}
		assertThat(this.application.decisions()).isZero();
		Callers callers = this.application.bean(Callers.class);
		assertCalledOnce(callers.publishers.get("a")::block);
		assertThat(callers.publishers.get("b").subscribeOn(Schedulers.parallel()).block()).isEqualTo("called");
		assertThat(this.application.get("/carried/named", "X-Tenant", "other").statusCode()).isEqualTo(200);
		assertCalledOnce(callers.calls.get("a"));
		RequestContextHolder.setRequestAttributes(callers.ended);
		try {
			assertCalledOnce(callers.publishers.get("c")::block);
			Results results = this.application.bean(Results.class);
			assertThatExceptionOfType(CallerDeniedException.class).isThrownBy(results::named);
		}
		finally {
			RequestContextHolder.resetRequestAttributes();
		}
	}

	private static void assertCalledOnce(Callable<String> call) throws Exception {
		assertThat(call.call()).isEqualTo("called");
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(call::call);
	}

	@Test
	void listsAndConditionsOfRequestHoldOnOtherThreads() {
		for (int i = 0; i < 3; i++) {
			assertThat(this.application.get("/carried/address", "X-Key", "secret").statusCode()).isEqualTo(200);
			assertThat(this.application.get("/carried/others", "X-Tenant", "a").statusCode()).isEqualTo(200);
		}
		assertThat(this.application.get("/carried/address", "X-Key", "mallory").statusCode()).isEqualTo(403);
		assertThat(this.application.decisions()).isZero();
		String[] other = { "X-Tenant", "a", "X-Other", "1" };
		assertThat(this.application.statuses(2, "/carried/others", other)).containsExactly(200, 429);
	}

	/** A filter inside those of the limiter knows the user, as Spring Security does. */
	@Test
	void userWhoHasLoggedInIsCarriedToo() {
		for (String user : new String[] { "anna", "berta" }) {
			assertThat(this.application.statuses(2, "/carried/members", "X-User", user)).containsExactly(200, 429);
		}
		assertThat(this.application.get("/carried/address", "X-User", "mallory").statusCode()).isEqualTo(403);
		assertThat(askedWithoutUser).hasValue(0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/carried/address", "/async" })
	void callerIsCarriedByWhatApplicationsUse(String path) {
		calls.set(0);
		assertThat(this.application.statuses(3, path)).containsExactly(200, 200, 429);
		assertThat(calls).hasValue(2);
		this.application.assertUsed("address", 2);
	}

	@OpenApplication
	@Import({ Results.class, Callers.class, HeaderLogin.class, SuspendingController.class, CallingController.class,
			SuspendingResults.class })
	static class Application {

		@Bean
		TaskDecorator carrier() {
			return new ContextPropagatingTaskDecorator();
		}

		@Bean
		IdentifierResolver member() {
			return new IdentifierResolver() {

				@Override
				public @Nullable String resolve(HttpServletRequest request) {
					Principal user = request.getUserPrincipal();
					if (user == null) {
						askedWithoutUser.incrementAndGet();
					}
					return (user != null) ? user.getName() : null;
				}

				@Override
				public boolean needsUser() {
					return true;
				}

			};
		}

	}

	/** Limited methods, some of which are handlers. */
	@RestController
	static class Results {

		@GetMapping("/future")
		@RateLimited(limits = "1/m")
		CompletableFuture<String> future() {
			return CompletableFuture.supplyAsync(() -> "called");
		}

		@GetMapping("/mono")
		@RateLimited(limits = "1/m")
		Mono<String> mono() {
			return Mono.just("called");
		}

		@GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		@RateLimited(limits = "1/m")
		Flux<String> events() {
			return Flux.just("called", "often");
		}

		@GetMapping("/counted")
		@RateLimited("failures")
		Mono<String> counted() {
			return Mono.just("called");
		}

		@RateLimited(limits = "1/m", identifiers = "header:X-Tenant")
		Mono<String> tenant() {
			return Mono.just("called");
		}

		@RateLimited("address")
		String address() {
			calls.incrementAndGet();
			return "called";
		}

		@RateLimited("named")
		String named() {
			return "called";
		}

		@RateLimited("members")
		String members() {
			return "called";
		}

		@RateLimited("others")
		String others() {
			return "called";
		}

	}

	/** Handlers that call limited methods. */
	@RestController
	static class Callers {

		private final Map<String, Mono<String>> publishers = new ConcurrentHashMap<>();

		private final Map<String, Callable<String>> calls = new ConcurrentHashMap<>();

		private final ExecutorService threads = Executors.newSingleThreadExecutor();

		private final Results results;

		private final AsyncTaskExecutor executor;

		private volatile @Nullable RequestAttributes ended;

		Callers(Results results, AsyncTaskExecutor executor) {
			this.results = results;
			this.executor = executor;
		}

		@GetMapping("/tenant")
		Mono<String> tenant() {
			return this.results.tenant().subscribeOn(Schedulers.parallel());
		}

		@GetMapping("/counted-elsewhere")
		Mono<String> countedElsewhere() {
			return this.results.counted().subscribeOn(Schedulers.parallel());
		}

		@GetMapping("/kept")
		String kept(@RequestHeader("X-Tenant") String tenant) {
			this.ended = RequestContextHolder.currentRequestAttributes();
			this.publishers.put(tenant, this.results.tenant());
			this.calls.put(tenant, withCaller(this.results::named));
			return "kept";
		}

		@GetMapping("/async")
		CompletableFuture<String> async() {
			return this.executor.submitCompletable(this.results::address);
		}

		@GetMapping("/carried/{policy}")
		String carried(@PathVariable String policy) throws Throwable {
			Callable<String> call = switch (policy) {
				case "address" -> this.results::address;
				case "named" -> this.results::named;
				case "members" -> this.results::members;
				default -> this.results::others;
			};
			try {
				return this.threads.submit(withCaller(call)).get();
			}
			catch (ExecutionException ex) {
				throw ex.getCause();
			}
		}

		private static Callable<String> withCaller(Callable<String> call) {
			return ContextSnapshotFactory.builder().build().captureAll().wrap(call);
		}

		@PreDestroy
		void close() {
			this.threads.shutdown();
		}

	}

}
