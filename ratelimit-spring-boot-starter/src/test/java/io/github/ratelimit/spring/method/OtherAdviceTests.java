package io.github.ratelimit.spring.method;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.ManualClock;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
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
import org.springframework.security.access.prepost.PreFilter;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.validation.annotation.Validated;
import org.springframework.validation.beanvalidation.MethodValidationPostProcessor;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Methods that have other advice beside the limit.
 */
@ExtendWith(OutputCaptureExtension.class)
@SpringJUnitConfig({ StarterRunners.InMemory.class, OtherAdviceTests.Application.class })
@TestPropertySource(properties = "ratelimit.defaults.identifiers=global")
class OtherAdviceTests {

	private final ApplicationContextRunner runner = StarterRunners.inMemory().withUserConfiguration(Application.class);

	private final WebApplicationContextRunner webRunner = StarterRunners.web()
		.withBean(MemoryRateLimiter.class, () -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")));

	@Autowired
	private Methods methods;

	@Autowired
	private RetryingMethods retrying;

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
	void callThatTheCacheAnswersIsCounted() {
		this.runner.withUserConfiguration(Caching.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			assertThat(methods.cached("a")).isEqualTo(methods.cached("a"));
			assertDenied(() -> methods.cached("a"));
		});
	}

	@Test
	void callThatTheCacheAnswersIsFreeWhenCacheComesFirst() {
		this.runner.withUserConfiguration(CachingFirst.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			for (int i = 0; i < 5; i++) {
				methods.cached("a");
			}
			methods.cached("b");
			assertDenied(() -> methods.cached("c"));
		});
	}

	@Test
	void callThatIsNotAuthorizedIsCounted() {
		logIn("anna", "ROLE_USER");
		assertRefused(this.methods::secured);
		assertRefused(this.methods::secured);
		assertDenied(this.methods::secured);
	}

	@Test
	void callThatIsNotAuthorizedIsFreeWhenOrderSaysSo() {
		this.runner.withPropertyValues("ratelimit.method.order=250").run((context) -> {
			Methods methods = context.getBean(Methods.class);
			logIn("anna", "ROLE_USER");
			for (int i = 0; i < 5; i++) {
				assertRefused(methods::secured);
			}
			logIn("bert", "ROLE_ADMIN");
			methods.secured();
			methods.secured();
			assertDenied(methods::secured);
		});
	}

	@Test
	void costIsThatOfArgumentsBeforeTheyAreFiltered() {
		logIn("anna", "ROLE_USER");
		assertThat(this.methods.filtered(new ArrayList<>(List.of(1, -1, -2, -3, 2)))).isEqualTo(2);
		assertDenied(() -> this.methods.filtered(new ArrayList<>(List.of(1, -1, -2, -3, 2, 3))));
		assertThat(this.methods.filtered(new ArrayList<>(List.of(1, -1, -2, -3, 2)))).isEqualTo(2);
	}

	@Test
	void costIsThatOfFilteredArgumentsWhenOrderSaysSo() {
		this.runner.withPropertyValues("ratelimit.method.order=150").run((context) -> {
			Methods methods = context.getBean(Methods.class);
			logIn("anna", "ROLE_USER");
			for (int i = 0; i < 5; i++) {
				methods.filtered(new ArrayList<>(List.of(1, -1, -2, -3, 2)));
			}
			assertDenied(() -> methods.filtered(new ArrayList<>(List.of(1))));
			assertRefused(methods::secured);
			assertRefused(methods::secured);
			assertDenied(methods::secured);
		});
	}

	@Test
	void costIsThatOfArgumentsBeforeTheyAreValidated() {
		assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(() -> this.validated.costly(5));
		assertDenied(() -> this.validated.costly(2));
		this.validated.costly(1);
		assertThatExceptionOfType(RateLimitedExpressionException.class).isThrownBy(() -> this.validated.costly(-1));
	}

	@Test
	void invalidCallIsCountedAndDeniedCallIsNotValidated() {
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(() -> this.validated.call(0));
		}
		assertDenied(() -> this.validated.call(0));
	}

	@Test
	void invalidRequestOfControllerIsFree() {
		this.webRunner.withUserConfiguration(WebApplication.class).run((context) -> {
			MockMvcTester mvc = MockMvcTester.from(context);
			assertThat(mvc.get().uri("/number?number=0")).hasStatus(400);
			assertThat(mvc.get().uri("/number?number=1")).hasStatus(200);
			assertThat(mvc.get().uri("/number?number=0")).hasStatus(400);
			assertThat(mvc.get().uri("/number?number=1")).hasStatus(429);
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
	void callerIsToldWhenAsynchronousCallOfInterfaceIsDenied() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(Service.class, AsynchronousService::new)
			.run((context) -> {
				Service service = context.getBean(Service.class);
				service.call();
				assertDenied(service::call);
			});
	}

	@Test
	void asynchronousCallCountsForTheUserWhoCalls() {
		logIn("anna", "ROLE_USER");
		this.methods.asynchronousOfUser();
		assertDenied(this.methods::asynchronousOfUser);
		logIn("bert", "ROLE_USER");
		this.methods.asynchronousOfUser();
	}

	@Test
	void logWarnsOfAsynchronousMethodThatIsLimitedByUser(CapturedOutput output) {
		this.runner.withBean(AsynchronousOfUser.class).run((context) -> {
			String method = "public void " + AsynchronousOfUser.class.getName() + ".call()";
			assertThat(output).containsOnlyOnce(method + " is @Async and limited by user: ");
			assertThat(output).doesNotContain("asynchronous() is @Async");
		});
	}

	@Test
	void logWarnsOfAsynchronousMethodsThatAreLimitedByRequest(CapturedOutput output) {
		this.webRunner.withBean(AsynchronousType.class, AsynchronousType::new).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("public void " + AsynchronousType.class.getName()
					+ ".call(java.lang.String) is @Async and limited by header:X-Tenant, ip: ");
		});
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
	void eachTryIsCountedAndDenialIsNotRetriedWhenRetriedMethodCallsLimitedOne() {
		AtomicInteger tries = new AtomicInteger();
		this.decisions.set(0);
		assertDenied(() -> this.retrying.call(tries));
		assertThat(tries).hasValue(3);
		assertThat(this.decisions).hasValue(3);
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
	void deniedCallHoldsNoPermitOfConcurrentOnes() throws Exception {
		CountDownLatch entered = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		this.methods.oneAtATimeOf("anna", null, null);
		CompletableFuture<String> denied = CompletableFuture
			.supplyAsync(() -> this.methods.oneAtATimeOf("anna", entered, end));
		try {
			assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
			assertTimeoutPreemptively(Duration.ofSeconds(10),
					() -> assertThat(this.methods.oneAtATimeOf("bert", null, null)).isEqualTo("called"));
		}
		finally {
			end.countDown();
		}
		assertThat(denied.get(10, TimeUnit.SECONDS)).isEqualTo("denied");
	}

	@Test
	void logTellsWhenLimitComesBeforeWhatItsOrderSays(CapturedOutput output) {
		this.runner.withPropertyValues("ratelimit.method.order=250")
			.withBean(AsynchronousSecured.class)
			.run((context) -> {
				assertThat(output)
					.contains("AnnotationAsyncExecutionInterceptor of the bean 'otherAdviceTests.AsynchronousSecured'"
							+ " is applied after the limit of the same method");
				context.getBean(AsynchronousSecured.class).call();
				assertDenied(context.getBean(AsynchronousSecured.class)::call);
			});
	}

	@Test
	void startFailsWhenOrderIsThatOfTransactions() {
		this.runner.withPropertyValues("ratelimit.method.order=2147483647")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("ratelimit.method.order")
				.hasStackTraceContaining("2147483647")
				.hasStackTraceContaining("Must be less: "));
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
	static class Application {

		@Bean
		Methods methods() {
			return new Methods();
		}

		@Bean
		RetryingMethods retryingMethods(Methods methods) {
			return new RetryingMethods(methods);
		}

		@Bean
		ValidatedMethods validatedMethods() {
			return new ValidatedMethods();
		}

		@Bean
		Transactions transactions() {
			return new Transactions();
		}

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

	@Configuration(proxyBeanMethods = false)
	@EnableWebMvc
	@Import(Controller.class)
	static class WebApplication {

	}

	@RestController
	static class Controller {

		@GetMapping("/number")
		@RateLimited(limits = "1/m", identifiers = "global")
		int number(@Min(1) @RequestParam int number) {
			return number;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class Caching {

		@Bean
		ConcurrentMapCacheManager caches() {
			return new ConcurrentMapCacheManager();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching(order = -1)
	static class CachingFirst {

		@Bean
		ConcurrentMapCacheManager caches() {
			return new ConcurrentMapCacheManager();
		}

	}

	static class Transactions extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		final AtomicInteger begun = new AtomicInteger();

		@Override
		protected Object doGetTransaction() {
			return this;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			this.begun.incrementAndGet();
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

	static class Methods {

		@Transactional
		@RateLimited(limits = "1/m")
		public void transactional() {
		}

		@Cacheable("cached")
		@RateLimited(limits = "2/m")
		public String cached(String key) {
			return key;
		}

		@PreAuthorize("hasRole('ADMIN')")
		@RateLimited(limits = "2/m")
		public void secured() {
		}

		@PreFilter("filterObject > 0")
		@RateLimited(limits = "10/m", costExpression = "#numbers.size()")
		public int filtered(List<Integer> numbers) {
			return numbers.size();
		}

		@Async
		@RateLimited(limits = "1/m")
		public CompletableFuture<String> asynchronous() {
			return CompletableFuture.completedFuture(Thread.currentThread().getName());
		}

		@Async
		@RateLimited(limits = "1/m", identifiers = "user")
		public void asynchronousOfUser() {
		}

		@Retryable(maxRetries = 2, delay = 0)
		@RateLimited(limits = "1/m")
		public int retried(AtomicInteger tries) {
			if (tries.incrementAndGet() < 3) {
				throw new IllegalStateException("Failed on purpose");
			}
			return tries.get();
		}

		@RateLimited(limits = "2/m")
		public void failing() {
			throw new IllegalStateException("Failed on purpose");
		}

		@ConcurrencyLimit(1)
		@RateLimited(limits = "1/m")
		public void oneAtATime(CountDownLatch entered, CountDownLatch end) {
			entered.countDown();
			await(end);
		}

		@ConcurrencyLimit(1)
		@RateLimited(limits = "1/m", identifiers = "#user", fallbackMethod = "instead")
		public String oneAtATimeOf(String user, @Nullable CountDownLatch denied, @Nullable CountDownLatch end) {
			return "called";
		}

		private String instead(String user, CountDownLatch denied, CountDownLatch end) {
			denied.countDown();
			await(end);
			return "denied";
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

	/** Its tries are limited, not its calls. */
	static class RetryingMethods {

		private final Methods methods;

		RetryingMethods(Methods methods) {
			this.methods = methods;
		}

		@Retryable(maxRetries = 5, delay = 0, excludes = RateLimitExceededException.class)
		public void call(AtomicInteger tries) {
			tries.incrementAndGet();
			this.methods.failing();
		}

	}

	@Validated
	static class ValidatedMethods {

		@RateLimited(limits = "2/m")
		public void call(@Min(1) int number) {
		}

		@RateLimited(limits = "6/m", costExpression = "#number")
		public void costly(@Max(3) int number) {
		}

	}

	interface Service {

		@RateLimited(limits = "1/m")
		void call();

	}

	static class AsynchronousService implements Service {

		@Async
		@Override
		public void call() {
		}

	}

	static class AsynchronousOfUser {

		@Async
		@RateLimited(limits = "1/m", identifiers = "user")
		public void call() {
		}

	}

	@Async
	static class AsynchronousType {

		@RateLimited(limits = "1/m", identifiers = { "ip", "header:X-Tenant+#name", "global" })
		public void call(String name) {
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
