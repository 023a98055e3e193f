package io.github.ratelimit.spring.decide;

import io.github.ratelimit.spring.config.RateLimitOffAutoConfiguration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.waiting.WaitingRateLimiter.Time;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicyLimiter.Acquisition;
import io.github.ratelimit.spring.PolicyLimiter.Use;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.ManualTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Decisions that code asks for by the names of policies.
 */
class PolicyLimiterTests {

	private static final Identifier ANNA = Identifier.user("anna");

	private static final Identifier HOST = Identifier.ip("203.0.113.7");

	private final List<PolicyDecision> decisions = new ArrayList<>();

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean(DecisionListener.class, () -> this.decisions::add)
		.withPropertyValues("ratelimit.plan='pro'", "ratelimit.policies.mail.limits=2/m",
				"ratelimit.policies.mail.identifiers=user", "ratelimit.policies.all.limits=3/h",
				"ratelimit.policies.all.identifiers=global", "ratelimit.policies.both.limits=5/m",
				"ratelimit.policies.both.identifiers=ip,user", "ratelimit.policies.host.limits=1/m",
				"ratelimit.policies.host.identifiers=code:host");

	private final WebApplicationContextRunner inMemory = this.runner.withBean(MemoryRateLimiter.class,
			() -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")));

	@Test
	void policyLimitsEachIdentifier() {
		run((limiter) -> {
			assertThat(remaining(limiter.peek("mail", ANNA))).containsExactly(2L);
			assertThat(limiter.peek(Use.of("mail", ANNA).withCost(3)).allowed()).isFalse();
			assertThat(acquire(limiter, 3, "mail", ANNA)).containsExactly(true, true, false);
			assertThat(acquire(limiter, 1, "mail", Identifier.user("berta"))).containsExactly(true);
			assertThat(limiter.tryAcquire("mail", ANNA).decision().retryAfter()).hasValue(Duration.ofMinutes(1));
		});
		assertThat(this.decisions).extracting(PolicyDecision::outcome)
			.containsExactly(Outcome.ALLOWED, Outcome.ALLOWED, Outcome.DENIED, Outcome.ALLOWED, Outcome.DENIED);
	}

	@Test
	void waitEndsWithOneDecision() {
		ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");
		this.runner.withBean(MemoryRateLimiter.class, () -> new MemoryRateLimiter(clock))
			.withBean(Time.class, () -> new ManualTime(clock))
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				Use mail = Use.of("mail", ANNA).withCost(2);
				assertThat(limiter.acquire(Duration.ZERO, mail).allowed()).isTrue();
				assertThat(limiter.acquire("mail", ANNA, Duration.ofSeconds(59)).allowed()).isFalse();
				Acquisition waited = limiter.acquire(Duration.ofMinutes(1), mail, Use.of("all"));
				assertThat(waited.allowed()).isTrue();
				assertThat(clock.instant()).isEqualTo("2026-01-01T00:01:00Z");
				waited.refund();
				assertThat(remaining(limiter.peek("mail", ANNA))).containsExactly(2L);
			});
		assertThat(this.decisions).extracting(PolicyDecision::outcome)
			.containsExactly(Outcome.ALLOWED, Outcome.DENIED, Outcome.ALLOWED, Outcome.ALLOWED);
	}

	/** Time never passes for the one who waits: it is told of the end. */
	@Test
	void endOfACallAdmitsWhoWaitsForIt() {
		this.inMemory.withPropertyValues("ratelimit.policies.all.concurrent=1").withBean(Time.class, () -> new Time() {

			@Override
			public void pass(long nanos, Semaphore signal) throws InterruptedException {
				signal.acquire();
			}

		}).run((context) -> {
			PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
			Acquisition running = limiter.tryAcquire("all");
			FutureTask<Acquisition> next = new FutureTask<>(
					() -> limiter.acquire("all", Identifier.GLOBAL, Duration.ofDays(1)));
			Thread thread = new Thread(next);
			thread.start();
			await().until(() -> thread.getState() == Thread.State.WAITING);
			running.end();
			assertThat(next.get().allowed()).isTrue();
		});
	}

	@Test
	void nobodyWaitsForPoliciesThatPunishDenials() {
		this.inMemory.withPropertyValues("ratelimit.policies.all.count-denied=true").run((context) -> {
			PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
			assertThat(limiter.tryAcquire(Use.of("all").withCost(3)).allowed()).isTrue();
			assertThat(limiter.acquire("all", Identifier.GLOBAL, Duration.ofDays(1)).allowed()).isFalse();
		});
	}

	@Test
	void severalPoliciesAreUsedTogetherOrNotAtAll() {
		run((limiter) -> {
			Use mail = Use.of("mail", ANNA);
			Use all = Use.of("all", Identifier.GLOBAL).withCost(2);
			assertThat(limiter.tryAcquire(mail, all).allowed()).isTrue();
			assertThat(limiter.tryAcquire(mail, all).allowed()).isFalse();
			assertThat(remaining(limiter.peek(mail, all))).containsExactly(1L, 1L);
			assertThat(limiter.tryAcquire(mail, all.withCost(0)).allowed()).isTrue();
			assertThat(remaining(limiter.peek(mail.withCost(0), all))).containsExactly(0L, 1L);
		});
	}

	@Test
	void planOfTheUseHasItsOwnBurst() {
		this.inMemory
			.withPropertyValues("ratelimit.policies.bucket.algorithm=token-bucket",
					"ratelimit.policies.bucket.limits=1/m", "ratelimit.policies.bucket.burst=3",
					"ratelimit.policies.bucket.identifiers=user", "ratelimit.policies.bucket.plans.pro.limits=2/m",
					"ratelimit.policies.bucket.plans.pro.burst=5", "ratelimit.policies.bucket.plans.free.limits=2/m",
					"ratelimit.policies.bucket.plans.partner.unlimited=true")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				Map.of("none", 3, "pro", 5, "free", 3, "partner", 9).forEach((plan, allowed) -> {
					Use use = Use.of("bucket", Identifier.user(plan)).withPlan(plan);
					assertThat(Stream.generate(() -> limiter.tryAcquire(use).allowed()).limit(9).filter((ok) -> ok))
						.hasSize(allowed);
				});
			});
	}

	@Test
	void refundReturnsWhatWasUsedOnce() {
		run((limiter) -> {
			Use mail = Use.of("mail", ANNA);
			Acquisition first = limiter.tryAcquire(mail, Use.of("all").withCost(3));
			Acquisition denied = limiter.tryAcquire(mail.withCost(2));
			assertThat(denied.allowed()).isFalse();
			denied.refund();
			assertThat(remaining(limiter.peek(mail, Use.of("all")))).containsExactly(1L, 0L);
			assertThat(limiter.tryAcquire(mail).allowed()).isTrue();
			first.refund();
			first.refund();
			assertThat(remaining(limiter.peek(mail, Use.of("all")))).containsExactly(1L, 3L);
		});
	}

	@Test
	void resetRemovesCountsOfNamedIdentifiersAlone() {
		this.inMemory
			.withPropertyValues("ratelimit.policies.both.plans.pro.limits=9/h", "ratelimit.policies.both.concurrent=3")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				Use both = Use.of("both", Identifier.ip("2001:db8::1"), ANNA);
				Use pro = both.withPlan("pro");
				limiter.tryAcquire(both);
				limiter.tryAcquire(pro);
				assertThat(limiter.reset("both", ANNA)).isTrue();
				assertThat(remaining(limiter.peek(both))).containsExactly(4L, 5L, 1L, 1L);
				assertThat(remaining(limiter.peek(pro))).containsExactly(8L, 9L, 1L, 1L);
				assertThat(limiter.reset("both", Identifier.ip("2001:db8::2"))).isTrue();
				assertThat(remaining(limiter.peek(both))).containsExactly(5L, 5L, 1L, 1L);
			});
	}

	@Test
	void policyThatIsOffAllowsAnythingAndCountsNothing() {
		this.inMemory.withPropertyValues("ratelimit.policies.mail.enabled=false").run((context) -> {
			PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
			assertThat(acquire(limiter, 3, "mail", ANNA)).containsOnly(true);
			assertThat(limiter.peek("mail", ANNA).statuses()).isEmpty();
			assertThat(this.decisions).isEmpty();
			Acquisition both = limiter.tryAcquire(Use.of("mail", ANNA), Use.of("all").withCost(2));
			assertThat(remaining(both.decision())).containsExactly(1L);
			both.refund();
			assertThat(remaining(limiter.peek(Use.of("mail", ANNA), Use.of("all")))).containsExactly(3L);
			assertThatIllegalArgumentException()
				.isThrownBy(() -> limiter.tryAcquire("mail", new Identifier("tenant", "7")));
		});
	}

	@Test
	void callsCountUntilTheyEnd() {
		this.inMemory
			.withPropertyValues("ratelimit.policies.all.concurrent=2", "ratelimit.policies.slow.concurrent=1",
					"ratelimit.policies.slow.identifiers=user")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				Acquisition both = limiter.tryAcquire(Use.of("all"), Use.of("slow", ANNA));
				Acquisition second = limiter.tryAcquire("all");
				assertThat(limiter.peek("all").allowed()).isFalse();
				assertThat(limiter.tryAcquire("slow", ANNA).allowed()).isFalse();
				second.end();
				second.end();
				assertThat(remaining(limiter.peek("all"))).containsExactly(1L, 1L);
				both.refund();
				both.end();
				assertThat(remaining(limiter.peek("all"))).containsExactly(2L, 2L);
				assertThat(limiter.tryAcquire("slow", ANNA).allowed()).isTrue();
			});
	}

	@Test
	void sourcesOfPoliciesSeeTheIdentifiers() {
		this.inMemory.withBean(PolicySource.class, () -> (policy, caller) -> ANNA.equals(caller.find("user"))
				? policy.withLimits(List.of(Limit.parse("1/m"))) : policy)
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				assertThat(acquire(limiter, 2, "mail", ANNA)).containsExactly(true, false);
				assertThat(acquire(limiter, 3, "mail", Identifier.user("berta"))).containsExactly(true, true, false);
			});
	}

	/** There is no response, so a denial is not because of requests in progress. */
	@Test
	void responsesDoNotMatter() {
		this.inMemory.withPropertyValues("ratelimit.policies.all.count-when=status in [401]").run((context) -> {
			PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
			assertThat(acquire(limiter, 3, "all", Identifier.GLOBAL)).containsOnly(true);
			assertThat(limiter.tryAcquire("all").decision().retryAfter()).hasValue(Duration.ofHours(1));
		});
	}

	@ParameterizedTest
	@MethodSource("refused")
	void wrongUseIsRefused(Consumer<PolicyLimiter> use, String message) {
		run((limiter) -> assertThatIllegalArgumentException().isThrownBy(() -> use.accept(limiter))
			.withMessage(message));
		assertThat(this.decisions).isEmpty();
	}

	static Stream<Arguments> refused() {
		return Stream.of(
				refused((limiter) -> limiter.tryAcquire("mial", ANNA),
						"Invalid policy (mial): must be one of [all, both, host, mail]. Did you mean 'mail'?"),
				refused((limiter) -> limiter.peek("x"), "Invalid policy (x): must be one of [all, both, host, mail]."),
				refused((limiter) -> limiter.tryAcquire("both", ANNA),
						"Invalid identifiers [user] for the policy 'both': it counts by [ip, user], but ip is missing."),
				refused((limiter) -> limiter.peek("both", HOST),
						"Invalid identifiers [ip] for the policy 'both': it counts by [ip, user], but user is missing."),
				refused((limiter) -> limiter.tryAcquire("mail", ANNA, new Identifier("tenant", "7")),
						"Invalid identifiers [user, tenant] for the policy 'mail': it counts by [user], but tenant is none of them."),
				refused((limiter) -> limiter.tryAcquire("mail", ANNA, Identifier.user("berta")),
						"Invalid identifiers [user, user] for the policy 'mail': it counts by [user], but user is given twice."),
				refused((limiter) -> limiter.tryAcquire("host"),
						"Invalid identifiers [] for the policy 'host': it counts by [code:host], and only code knows code:host."),
				refused((limiter) -> limiter.tryAcquire(Use.of("all"), Use.of("all")),
						"Invalid request: the policy 'all' is used twice."),
				refused((limiter) -> limiter.reset("both"),
						"Invalid identifiers [] for the policy 'both': it counts by [ip, user], but none is given."),
				refused((limiter) -> limiter.reset("mail", HOST),
						"Invalid identifiers [ip] for the policy 'mail': it counts by [user], but ip is none of them."),
				refused((limiter) -> limiter.tryAcquire(), "Invalid uses []: there must be at least one."),
				refused((limiter) -> limiter.tryAcquire(Use.of("all").withCost(-1)),
						"Invalid cost (-1): must not be negative."));
	}

	private static Arguments refused(Consumer<PolicyLimiter> use, String message) {
		return Arguments.of(use, message);
	}

	@Test
	void identifiersAreThoseOfRequestsInAnyOrder() {
		this.inMemory
			.withPropertyValues("ratelimit.policies.all.identifiers=ip,user",
					"ratelimit.policies.all.missing-identifier=skip")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				assertThat(limiter.peek("all", ANNA).statuses()).extracting(LimitStatus::identifier)
					.containsExactly(ANNA);
				assertThat(limiter.peek("mail", HOST).statuses()).extracting(LimitStatus::identifier)
					.containsExactly(HOST);
				limiter.tryAcquire(Use.of("both", ANNA, HOST).withCost(2));
				assertThat(limiter.peek("both", HOST, ANNA).statuses()).extracting(LimitStatus::identifier)
					.containsExactly(HOST, ANNA);
				assertThat(remaining(limiter.peek("both", HOST, ANNA))).containsExactly(3L, 3L);
				limiter.tryAcquire("both", Identifier.ip("2001:db8::1"), ANNA);
				assertThat(remaining(limiter.peek("both", Identifier.ip("2001:db8::2"), Identifier.user("berta"))))
					.containsExactly(4L, 5L);
				assertThat(acquire(limiter, 2, "host", new Identifier("code:host", "example.com")))
					.containsExactly(true, false);
			});
	}

	@Test
	void everythingIsAllowedWhenLimitsAreOff() {
		this.runner.withConfiguration(AutoConfigurations.of(RateLimitOffAutoConfiguration.class))
			.withPropertyValues("ratelimit.enabled=false")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				assertThat(acquire(limiter, 9, "mail", ANNA)).containsOnly(true);
				assertThat(limiter.peek("mail").allowed()).isTrue();
				assertThat(limiter.reset("mail", ANNA)).isTrue();
			});
	}

	private void run(Consumer<PolicyLimiter> test) {
		this.inMemory.run((context) -> test.accept(context.getBean(PolicyLimiter.class)));
	}

	private static List<Boolean> acquire(PolicyLimiter limiter, int times, String policy, Identifier... identifiers) {
		return IntStream.range(0, times).mapToObj((i) -> limiter.tryAcquire(policy, identifiers).allowed()).toList();
	}

	private static List<Long> remaining(Decision decision) {
		return decision.statuses().stream().map(LimitStatus::remaining).toList();
	}

}
