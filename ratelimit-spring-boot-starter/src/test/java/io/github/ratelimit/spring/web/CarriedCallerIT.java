package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Who is counted when a thread without a request calls a limited method.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  address: { limits: 2/m, identifiers: ip }
		  tenant: { limits: 1/m, identifiers: header:X-Tenant }
		  others: { limits: 1/m, identifiers: header:X-Tenant, when: "#request.getHeader('X-Other') != null" }
		  members: { limits: 1/m, identifiers: member }
		ratelimit.allow: header:X-Key:secret
		ratelimit.deny: [header:X-Key:mallory, user:mallory]
		""")
class CarriedCallerIT {

	@Parameter
	TestApplication application;

	@Test
	void callIsDeniedWhenItsThreadKnowsNobody() {
		assertThat(this.application.statuses(3, "/pool")).containsOnly(403);
		assertThat(this.application.decisions()).isZero();
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
	}

	@Test
	void identifierThatNeedsUserIsNotAskedWithoutOne() {
		assertThat(this.application.get("/carried/address").statusCode()).isEqualTo(200);
		assertThat(this.application.bean(Member.class).askedWithoutUser).hasValue(0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/carried/address", "/async" })
	void callerIsCarriedByWhatApplicationsUse(String path) {
		AtomicInteger calls = this.application.bean(Limited.class).calls();
		calls.set(0);
		assertThat(this.application.statuses(3, path)).containsExactly(200, 200, 429);
		assertThat(calls).hasValue(2);
		this.application.assertUsed("address", 2);
	}

	/** The container may have given the request to another client by then. */
	@Test
	void callerOutlivesItsRequestAndRequestDoesNot() throws Exception {
		assertThat(this.application.get("/later", "X-Tenant", "kept").statusCode()).isEqualTo(200);
		Carriers carriers = this.application.bean(Carriers.class);
		assertThat(this.application.get("/carried/tenant", "X-Tenant", "other").statusCode()).isEqualTo(200);
		Callable<String> later = carriers.later;
		assertThat(later).isNotNull();
		assertThat(later.call()).isEqualTo("called");
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(later::call);
		RequestContextHolder.setRequestAttributes(carriers.ended);
		try {
			Limited limited = this.application.bean(Limited.class);
			assertThatExceptionOfType(CallerDeniedException.class).isThrownBy(limited::tenant);
		}
		finally {
			RequestContextHolder.resetRequestAttributes();
		}
	}

	@OpenApplication
	@EnableAsync
	@Import({ Limited.class, Member.class, HeaderLogin.class, Carriers.class, Later.class })
	static class Application {

		@Bean
		TaskDecorator carrier() {
			return new ContextPropagatingTaskDecorator();
		}

	}

	@Component("member")
	static class Member implements IdentifierResolver {

		private final AtomicInteger askedWithoutUser = new AtomicInteger();

		@Override
		public @Nullable String resolve(HttpServletRequest request) {
			Principal user = request.getUserPrincipal();
			if (user == null) {
				this.askedWithoutUser.incrementAndGet();
				return null;
			}
			return user.getName();
		}

		@Override
		public boolean needsUser() {
			return true;
		}

	}

	@Service
	static class Limited {

		private final AtomicInteger calls = new AtomicInteger();

		/** The proxy has no fields. */
		public AtomicInteger calls() {
			return this.calls;
		}

		@RateLimited("address")
		public String address() {
			this.calls.incrementAndGet();
			return "called";
		}

		@RateLimited("tenant")
		public String tenant() {
			return "called";
		}

		@RateLimited("members")
		public String members() {
			return "called";
		}

		@RateLimited("others")
		public String others() {
			return "called";
		}

	}

	@Service
	static class Later {

		private final Limited limited;

		Later(Limited limited) {
			this.limited = limited;
		}

		@Async
		CompletableFuture<String> address() {
			return CompletableFuture.completedFuture(this.limited.address());
		}

	}

	/** What carries the caller, or calls on the thread of the request. */
	@RestController
	static class Carriers {

		private final Later asynchronous;

		private final Limited limited;

		private final ExecutorService threads = Executors.newSingleThreadExecutor();

		@Nullable Callable<String> later;

		@Nullable RequestAttributes ended;

		Carriers(Later asynchronous, Limited limited) {
			this.asynchronous = asynchronous;
			this.limited = limited;
		}

		@GetMapping("/async")
		CompletableFuture<String> async() {
			return this.asynchronous.address();
		}

		@GetMapping("/pool")
		CompletableFuture<String> pool() {
			return CompletableFuture.supplyAsync(this.limited::address, this.threads);
		}

		@GetMapping("/carried/{policy}")
		String carried(@PathVariable String policy) throws Throwable {
			Callable<String> call = switch (policy) {
				case "address" -> this.limited::address;
				case "tenant" -> this.limited::tenant;
				case "members" -> this.limited::members;
				default -> this.limited::others;
			};
			Future<String> result = this.threads
				.submit(ContextSnapshotFactory.builder().build().captureAll().wrap(call));
			try {
				return result.get();
			}
			catch (ExecutionException ex) {
				throw ex.getCause();
			}
		}

		@GetMapping("/later")
		void later() {
			this.later = ContextSnapshotFactory.builder().build().captureAll().wrap(this.limited::tenant);
			this.ended = RequestContextHolder.getRequestAttributes();
		}

		@PreDestroy
		void close() {
			this.threads.shutdown();
		}

	}

}
