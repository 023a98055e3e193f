package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.waiting.WaitingRateLimiter;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The lines that {@link PolicyOutcomes} logs of denials.
 */
class DenialLogTests {

	private static final Identifier ANNA = new Identifier("query:name", "anna");

	private static final IdentifiedPolicy SHADOW = policy("shadow",
			new Enforcement(Mode.SHADOW, OnStoreFailure.DENY, null));

	private static final IdentifiedPolicy API = policy("api", Enforcement.DEFAULT);

	private static final IdentifiedPolicy LOGIN = policy("login",
			new Enforcement(Mode.ENFORCE, OnStoreFailure.DENY, null));

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.github.ratelimit.denials");

	private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

	private final MemoryRateLimiter store = new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));

	private final Decider decisions = decisions(UnaryOperator.identity());

	@BeforeEach
	void listen() {
		this.lines.start();
		this.logger.addAppender(this.lines);
		this.logger.setLevel(Level.DEBUG);
	}

	@AfterEach
	void reset() {
		this.logger.detachAppender(this.lines);
		this.logger.setLevel(null);
	}

	@Test
	void denialIsOneLineWithLimitAndIdentifier() {
		decide(this.decisions, ANNA, API);
		assertThat(lines()).isEmpty();
		decide(this.decisions, ANNA, API);
		decide(this.decisions, ANNA, LOGIN, API);
		assertThat(lines()).containsExactly("Policy api denied query:name:anna (1/m)",
				"Policy api denied query:name:anna (1/m)");
		assertThat(this.lines.list).extracting(ILoggingEvent::getLevel).containsOnly(Level.DEBUG);
		this.logger.setLevel(Level.INFO);
		decide(this.decisions, ANNA, API);
		assertThat(lines()).hasSize(2);
	}

	@Test
	void otherReasonsAreTold() {
		decide(this.decisions, ANNA, SHADOW);
		decide(this.decisions, ANNA, SHADOW);
		this.store.block(ANNA, null, Duration.ofMinutes(1), "guessing");
		decide(this.decisions, ANNA, API);
		Decider failing = new Decider(new FailingStore(), List.of(), List::of);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> decide(failing, ANNA, LOGIN));
		assertThat(lines()).containsExactly("Policy shadow would deny query:name:anna (1/m) (mode: shadow)",
				"Policy api denied query:name:anna: blocked", "Policy login denied query:name:anna: the store failed");
	}

	@Test
	void clientCannotForgeOrFillLogNorTellSecrets() {
		Identifier forged = new Identifier("query:name", "x\r\nPolicy api\u2028\u202e" + "y".repeat(10_000));
		decide(this.decisions, forged, API);
		decide(this.decisions, forged, API);
		assertThat(lines()).singleElement()
			.asString()
			.matches("\\P{Cntrl}{100,300}")
			.doesNotContain("\u2028", "\u202e");
		this.lines.list.clear();
		Decider hashing = decisions((identifier) -> RedisRateLimiter.hashed(identifier, "s3cr3t"));
		decide(hashing, ANNA, API);
		decide(hashing, ANNA, API);
		assertThat(lines()).singleElement()
			.asString()
			.startsWith("Policy api denied query:name:~")
			.doesNotContain("anna");
	}

	private Decider decisions(UnaryOperator<Identifier> shown) {
		return new Decider(this.store, List.of(), List::of, shown, () -> 1, null, Decider.DEFAULT_LONGEST_CALL,
				WaitingRateLimiter.Time.SYSTEM);
	}

	private static void decide(Decider decisions, Identifier identifier, IdentifiedPolicy... policies) {
		decisions.decide(Stream.of(policies)
			.map((policy) -> new PolicyCharge(policy, Charge.of(policy.policy(), identifier)))
			.toList());
	}

	private List<String> lines() {
		return this.lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	private static IdentifiedPolicy policy(String name, Enforcement enforcement) {
		return new IdentifiedPolicy(Policy.of(name, new SlidingLog(), Limit.parse("1/m")), List.of("query:name"),
				enforcement);
	}

}
