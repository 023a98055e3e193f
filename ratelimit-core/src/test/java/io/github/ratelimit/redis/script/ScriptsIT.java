package io.github.ratelimit.redis.script;

import java.util.List;
import java.util.stream.IntStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.connection.OneConnection;
import io.github.ratelimit.test.TestRedis;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ScriptsIT {

	@Test
	void policyIsRefusedWhoseScriptCannotBeComposed() {
		try (OneConnection servers = new OneConnection(TestRedis.uri())) {
			Scripts scripts = new Scripts(new RedisKeys(TestRedis.newKeyPrefix()), servers);
			Limit limit = Limit.parse("2/s");
			scripts.requireComposable(Policy.of("api", new QuietPeriod(1), limit));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> scripts.requireComposable(Policy.of("api", new Unfinished("nothing"), limit)))
				.withMessage("Invalid algorithm (%s): there is no script nothing.lua beside it.",
						Unfinished.class.getName());
			assertThatIllegalArgumentException()
				.isThrownBy(() -> scripts.requireComposable(Policy.of("api", new Unfinished("quiet-period"), limit)))
				.withMessageContaining("there is no constant 'EXTRA'");
		}
	}

	@Test
	void policyDoesNotKeepScriptsForAllNumbersOfIdentifiers() {
		try (OneConnection servers = new OneConnection(TestRedis.uri())) {
			Scripts scripts = new Scripts(new RedisKeys(TestRedis.newKeyPrefix()), servers);
			Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("2/s"));
			for (int size = 1; size <= 20; size++) {
				List<Identifier> identifiers = IntStream.range(0, size)
					.mapToObj((i) -> Identifier.user("u" + i))
					.toList();
				scripts.call(Operation.PEEK, Scope.ALL, RateLimitRequest.of(new Charge(policy, identifiers, 1)), 0);
			}
			assertThat(scripts).extracting("policies", InstanceOfAssertFactories.map(Policy.class, PolicyCode.class))
				.extractingByKey(policy)
				.satisfies((code) -> assertThat(code.scripts).hasSize(4));
		}
	}

	/** An algorithm without constants. */
	private record Unfinished(String script) implements Algorithm {

		@Override
		public String name() {
			return "unfinished";
		}

		@Override
		public String code() {
			return "un";
		}

		@Override
		public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
			throw new UnsupportedOperationException();
		}

	}

}
