package io.github.ratelimit.redis.script;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import com.github.benmanes.caffeine.cache.Cache;
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
import io.github.ratelimit.redis.connection.Codec;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.template.Composer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ScriptsTests {

	private final Scripts scripts = new Scripts(new RedisKeys("test"), new Nowhere(), null, Composer::compose);

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
	void scriptIsReadBesideItsAlgorithm() {
		Policy library = Policy.of("library", new LeakyBucket(), Limit.parse("2/s"));
		Policy own = Policy.of("own", new Scripted("bucket"), Limit.parse("2/s"));
		assertThat(library.algorithm().script()).isEqualTo(own.algorithm().script());
		this.scripts.requireComposable(own);
		assertThat(codec(Operation.ACQUIRE, library).toString()).contains("pace_").doesNotContain("taken");
		assertThat(codec(Operation.ACQUIRE, own).toString()).contains("taken").doesNotContain("pace_");
		assertThat(codec(Operation.ACQUIRE, library, own).toString()).contains("pace_", "taken");
	}

	/** All the others would have to be composed again at once. */
	@Test
	void fullCacheForgetsOnlyWhatIsUsedLeast() {
		Policy busy = policy("busy", 2, 1);
		Codec codec = codec(Operation.ACQUIRE, busy);
		for (int seconds = 2; seconds <= 1050; seconds++) {
			assertThat(codec(Operation.ACQUIRE, busy)).isSameAs(codec);
			codec(Operation.ACQUIRE, policy("api-" + seconds, 2, seconds));
		}
		assertThat(kept()).hasSizeBetween(900, 1000);
	}

	/** As in another plan. */
	@Test
	void otherQuotaNeedsNoOtherScript() {
		Codec codec = codec(Operation.ACQUIRE, policy("api", 2, 1));
		for (int quota = 0; quota <= 100; quota++) {
			assertThat(codec(Operation.ACQUIRE, policy("api", quota, 1))).isSameAs(codec);
			assertThat(codec(Operation.ACQUIRE, policy("plan-" + quota, quota, 1))).isSameAs(codec);
		}
		assertThat(kept()).hasSize(1);
	}

	/** Otherwise they could not share a call. */
	@Test
	void policiesOfOneShapeShareAScriptAfterAnEviction() {
		Policy first = policy("first", 2, 1);
		codec(Operation.ACQUIRE, first);
		for (int seconds = 2; seconds <= 300; seconds++) {
			compose(policy("api", 2, seconds));
		}
		assertThat(codec(Operation.ACQUIRE, first)).isSameAs(codec(Operation.ACQUIRE, policy("second", 2, 1)));
	}

	private static Policy policy(String name, long quota, int seconds) {
		return Policy.of(name, new FixedWindow(), new Limit(quota, Duration.ofSeconds(seconds)));
	}

	/** Composes four scripts, so that there are more of them than policies. */
	private void compose(Policy policy) {
		for (Operation operation : List.of(Operation.ACQUIRE, Operation.PEEK, Operation.CHARGE, Operation.REFUND)) {
			codec(operation, policy);
		}
	}

	private Codec codec(Operation operation, Policy... policies) {
		Charge[] charges = Stream.of(policies)
			.map((policy) -> Charge.of(policy, Identifier.user("alice")))
			.toArray(Charge[]::new);
		return this.scripts.call(operation, Scope.ALL, RateLimitRequest.of(charges), 0).codec();
	}

	private List<Object> kept() {
		List<Object> kept = new ArrayList<>();
		assertThat(this.scripts).extracting("scripts")
			.satisfies((cache) -> kept.addAll(((Cache<?, ?>) cache).asMap().values()));
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
