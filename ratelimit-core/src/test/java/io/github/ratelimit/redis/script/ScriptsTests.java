package io.github.ratelimit.redis.script;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Carrier;
import io.github.ratelimit.redis.connection.Servers;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ScriptsTests {

	private final Scripts scripts = new Scripts(new RedisKeys("test"), new Nowhere(), null);

	@Test
	void policyIsRefusedWhoseScriptCannotBeComposed() {
		Limit limit = Limit.parse("2/s");
		this.scripts.requireComposable(Policy.of("api", new QuietPeriod(1), limit));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.scripts.requireComposable(Policy.of("api", new Scripted("nothing"), limit)))
			.withMessage("Invalid algorithm (%s): there is no script nothing.lua beside it.", Scripted.class.getName());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.scripts.requireComposable(Policy.of("api", new Scripted("quiet-period"), limit)))
			.withMessageContaining("there is no constant 'EXTRA'");
	}

	@Test
	void scriptIsReadBesideItsAlgorithmAndNotByNameAlone() {
		Policy library = Policy.of("library", new LeakyBucket(), Limit.parse("2/s"));
		Policy own = Policy.of("own", new Scripted("bucket"), Limit.parse("2/s"));
		assertThat(library.algorithm().script()).isEqualTo(own.algorithm().script());
		this.scripts.requireComposable(own);
		assertThat(carrier(Operation.ACQUIRE, library).toString()).contains("pace_").doesNotContain("taken");
		assertThat(carrier(Operation.ACQUIRE, own).toString()).contains("taken").doesNotContain("pace_");
		assertThat(carrier(Operation.ACQUIRE, library, own).toString()).contains("pace_", "taken");
	}

	@Test
	void policyDoesNotKeepScriptsForAllNumbersOfIdentifiers() {
		Policy policy = policy("api", 2, 1);
		for (int size = 1; size <= 20; size++) {
			List<Identifier> identifiers = IntStream.range(0, size).mapToObj((i) -> Identifier.user("u" + i)).toList();
			this.scripts.call(Operation.PEEK, Scope.ALL, RateLimitRequest.of(new Charge(policy, identifiers, 1)), 0);
		}
		assertThat(this.scripts).extracting("policies", InstanceOfAssertFactories.map(Policy.class, PolicyCode.class))
			.extractingByKey(policy)
			.satisfies((code) -> assertThat(code.scripts).hasSize(4));
	}

	@Test
	void atMostThousandScriptsAreKept() {
		for (int seconds = 1; seconds <= 600; seconds++) {
			compose(policy("api", 2, seconds));
			assertThat(kept().size()).isLessThanOrEqualTo(1000);
		}
	}

	/** As in another plan. */
	@Test
	void otherQuotaNeedsNoOtherScript() {
		Carrier carrier = carrier(Operation.ACQUIRE, policy("api", 2, 1));
		for (int quota = 0; quota <= 100; quota++) {
			assertThat(carrier(Operation.ACQUIRE, policy("api", quota, 1))).isSameAs(carrier);
			assertThat(carrier(Operation.ACQUIRE, policy("plan-" + quota, quota, 1))).isSameAs(carrier);
		}
		assertThat(kept().size()).isEqualTo(1);
	}

	/** Otherwise they could not share a call. */
	@Test
	void policiesOfOneShapeShareTheirScriptAfterOthersWereForgotten() {
		Policy first = policy("first", 2, 1);
		Carrier before = carrier(Operation.ACQUIRE, first);
		for (int seconds = 2; kept().contains(before); seconds++) {
			assertThat(seconds).isLessThan(1000);
			compose(policy("api", 2, seconds));
		}
		assertThat(carrier(Operation.ACQUIRE, first)).isSameAs(carrier(Operation.ACQUIRE, policy("second", 2, 1)));
	}

	private static Policy policy(String name, long quota, int seconds) {
		return Policy.of(name, new FixedWindow(), new Limit(quota, Duration.ofSeconds(seconds)));
	}

	/** Composes four scripts, so that there are more of them than policies. */
	private void compose(Policy policy) {
		for (Operation operation : List.of(Operation.ACQUIRE, Operation.PEEK, Operation.CHARGE, Operation.REFUND)) {
			carrier(operation, policy);
		}
	}

	private Carrier carrier(Operation operation, Policy... policies) {
		Charge[] charges = Stream.of(policies)
			.map((policy) -> Charge.of(policy, Identifier.user("alice")))
			.toArray(Charge[]::new);
		return this.scripts.call(operation, Scope.ALL, RateLimitRequest.of(charges), 0).carrier();
	}

	/** Returns all scripts that are kept, also those of policies. */
	private Set<Object> kept() {
		Set<Object> kept = new HashSet<>();
		assertThat(this.scripts).extracting("scripts", InstanceOfAssertFactories.map(Shape.class, Script.class))
			.satisfies((scripts) -> kept.addAll(scripts.values()));
		assertThat(this.scripts).extracting("policies", InstanceOfAssertFactories.map(Policy.class, PolicyCode.class))
			.satisfies((policies) -> policies.values().forEach((code) -> kept.addAll(code.scripts.values())));
		return kept;
	}

	/** Sends nothing. */
	private static final class Nowhere implements Servers {

		@Override
		public void submit(Call call) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void close() {
		}

	}

	/** An algorithm without constants. */
	private record Scripted(String script) implements Algorithm {

		@Override
		public String name() {
			return "scripted";
		}

		@Override
		public String code() {
			return "sd";
		}

		@Override
		public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
			throw new UnsupportedOperationException();
		}

	}

}
