package io.github.ratelimit.spring.method;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.Min;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.SimpleTransactionStatus;
import org.springframework.validation.annotation.Validated;
import org.springframework.validation.beanvalidation.MethodValidationPostProcessor;

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static io.github.ratelimit.spring.method.LimitedBeans.assertLimited;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Methods that have other advice beside the limit.
 */
@SpringJUnitConfig({ StarterRunners.InMemory.class, OtherAdviceTests.Application.class })
@TestPropertySource(properties = "ratelimit.defaults.identifiers=global")
class OtherAdviceTests {

	private final ApplicationContextRunner runner = StarterRunners.inMemory().withUserConfiguration(Application.class);

	@Autowired
	private Methods methods;

	@Autowired
	private ValidatedMethods validated;

	@Autowired
	private Transactions transactions;

	@Autowired
	private AtomicInteger decisions;

	@AfterEach
	void logOut() {
		SecurityContextHolder.clearContext();
	}

	@Test
	void deniedCallBeginsNoTransaction() {
		this.methods.transactional();
		assertThat(this.transactions.begun).hasValue(1);
		assertDenied(this.methods::transactional);
		assertThat(this.transactions.begun).hasValue(1);
	}

	@Test
	void callThatIsInvalidOrNotAuthorizedIsCounted() {
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(() -> this.validated.call(0));
		}
		assertDenied(() -> this.validated.call(0));
		logIn("anna", "ROLE_USER");
		assertRefused(this.methods::secured);
		assertRefused(this.methods::secured);
		assertDenied(this.methods::secured);
	}

	@Test
	void unauthorizedCallIsFreeWhenOrderSaysSo() {
		this.runner.withPropertyValues("ratelimit.method.order=250").run((context) -> {
			Methods methods = context.getBean(Methods.class);
			logIn("anna", "ROLE_USER");
			for (int i = 0; i < 5; i++) {
				assertRefused(methods::secured);
			}
			logIn("bert", "ROLE_ADMIN");
			methods.secured();
			assertLimited(methods::secured);
		});
	}

	@Test
	void callerIsToldWhenAsynchronousCallIsDenied() throws Exception {
		assertThat(this.methods.asynchronous().get(10, TimeUnit.SECONDS))
			.isNotEqualTo(Thread.currentThread().getName());
		assertThat(this.methods.asynchronous()).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCauseInstanceOf(RateLimitExceededException.class);
	}

	@Test
	void retriedCallIsCountedOnceAndDenialIsNotRetried() {
		this.decisions.set(0);
		assertThat(this.methods.retried(new AtomicInteger())).isEqualTo(3);
		assertThat(this.decisions).hasValue(1);
		AtomicInteger tries = new AtomicInteger();
		assertDenied(() -> this.methods.retried(tries));
		assertThat(this.decisions).hasValue(2);
		assertThat(tries).hasValue(0);
	}

	@Test
	void deniedCallDoesNotWaitForConcurrentOnes() throws Exception {
		CountDownLatch entered = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<Void> first = CompletableFuture.runAsync(() -> this.methods.oneAtATime(entered, end));
		try {
			assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
			assertTimeoutPreemptively(Duration.ofSeconds(10),
					() -> assertDenied(() -> this.methods.oneAtATime(entered, end)));
		}
		finally {
			end.countDown();
			first.get(10, TimeUnit.SECONDS);
		}
	}

	@Test
	void asynchronousCallIsLimitedFirstWhateverTheOrderIs() {
		this.runner.withPropertyValues("ratelimit.method.order=250")
			.withBean(AsynchronousSecured.class)
			.run((context) -> {
				context.getBean(AsynchronousSecured.class).call();
				assertDenied(context.getBean(AsynchronousSecured.class)::call);
			});
	}

	private static void logIn(String name, String role) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken(name, "", role));
	}

	private static void assertRefused(ThrowingCallable call) {
		assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(call);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	@EnableMethodSecurity
	@EnableAsync
	@EnableResilientMethods
	@Import({ Methods.class, ValidatedMethods.class, Transactions.class })
	static class Application {

		@Bean
		static MethodValidationPostProcessor methodValidation() {
			return new MethodValidationPostProcessor();
		}

		@Bean
		AtomicInteger decisions() {
			return new AtomicInteger();
		}

		@Bean
		DecisionListener listener(AtomicInteger decisions) {
			return (decision) -> decisions.incrementAndGet();
		}

	}

	static class Transactions implements PlatformTransactionManager {

		final AtomicInteger begun = new AtomicInteger();

		@Override
		public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
			this.begun.incrementAndGet();
			return new SimpleTransactionStatus();
		}

		@Override
		public void commit(TransactionStatus status) {
		}

		@Override
		public void rollback(TransactionStatus status) {
		}

	}

	static class Methods {

		@Transactional
		@RateLimited(limits = "1/m")
		public void transactional() {
		}

		@PreAuthorize("hasRole('ADMIN')")
		@RateLimited(limits = "2/m")
		public void secured() {
		}

		@Async
		@RateLimited(limits = "1/m")
		public CompletableFuture<String> asynchronous() {
			return CompletableFuture.completedFuture(Thread.currentThread().getName());
		}

		@Retryable(maxRetries = 2, delay = 0)
		@RateLimited(limits = "1/m")
		public int retried(AtomicInteger tries) {
			if (tries.incrementAndGet() < 3) {
				throw new IllegalStateException("Failed on purpose");
			}
			return tries.get();
		}

		@ConcurrencyLimit(1)
		@RateLimited(limits = "1/m")
		public void oneAtATime(CountDownLatch entered, CountDownLatch end) {
			entered.countDown();
			await(end);
		}

		private static void await(CountDownLatch end) {
			try {
				assertThat(end.await(20, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

	@Validated
	static class ValidatedMethods {

		@RateLimited(limits = "2/m")
		public void call(@Min(1) int number) {
		}

	}

	static class AsynchronousSecured {

		@Async
		@PreAuthorize("permitAll()")
		@RateLimited(limits = "1/m")
		public void call() {
		}

	}

}
