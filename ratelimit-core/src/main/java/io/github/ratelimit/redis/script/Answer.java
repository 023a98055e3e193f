package io.github.ratelimit.redis.script;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.WrongReplyException;
import org.jspecify.annotations.Nullable;

/**
 * The decision of a script on a request, or on its part in one slot.
 *
 * @param decision the decision, without the blocks that it led to
 * @param reservedAt when the cost was counted by {@link Operation#RESERVE}, in
 * microseconds since the epoch; otherwise 0
 * @param penalties identifiers that were denied too often
 */
public record Answer(Decision decision, long reservedAt, List<Penalized> penalties) {

	private static final Answer NOTHING = new Answer(new Decision(true, List.of()), 0, List.of());

	/**
	 * An identifier that was denied too often by a charge.
	 *
	 * @param until when the block ends, in microseconds since the epoch
	 * @param micros how long the block lasts, in microseconds
	 */
	public record Penalized(Charge charge, Identifier identifier, long until, long micros) {

		/** Returns whether the identifier is not blocked. */
		public boolean shadow() {
			return this.charge.shadow() || Objects.requireNonNull(this.charge.policy().penalty()).shadow();
		}

	}

	/** Returns the decision with the blocks that it led to. */
	public Decision penalized() {
		if (this.penalties.isEmpty()) {
			return this.decision;
		}
		Duration blocked = this.decision.blockedFor();
		for (Penalized penalized : this.penalties) {
			Duration length = Duration.of(penalized.micros(), ChronoUnit.MICROS);
			if (!penalized.shadow() && (blocked == null || length.compareTo(blocked) > 0)) {
				blocked = length;
			}
		}
		return new Decision(this.decision.allowed(), this.decision.statuses(), blocked, this.decision.source(),
				this.decision.shadows());
	}

	private static final int RESERVED_AT = 1 + Double.BYTES;

	static Answer read(Operation operation, Scope scope, RateLimitRequest request, @Nullable Object reply) {
		if (!(reply instanceof byte[] bytes) || bytes.length == 0) {
			throw invalid(reply);
		}
		ByteBuffer numbers = ByteBuffer.wrap(bytes);
		Answer answer = NOTHING;
		if (operation.decides()) {
			List<Penalized> penalties = new ArrayList<>();
			Decision decision = read(operation, scope, request.enforced(), numbers, penalties);
			List<Charge> shadows = request.shadows();
			if (!shadows.isEmpty()) {
				decision = decision.withShadows(shadows,
						(charge) -> read(operation, scope, List.of(charge), numbers, penalties));
			}
			answer = new Answer(decision, (long) numbers.getDouble(RESERVED_AT), penalties);
		}
		else {
			numbers.get();
		}
		if (numbers.hasRemaining()) {
			throw invalid(reply);
		}
		return answer;
	}

	private static Decision read(Operation operation, Scope scope, List<Charge> charges, ByteBuffer numbers,
			List<Penalized> penalties) {
		if (!numbers.hasRemaining()) {
			throw invalid(numbers.array());
		}
		boolean allowed = numbers.get() == 1;
		long blocked = number(numbers, 0);
		number(numbers, 0);
		Decision decision = new Decision(allowed, (scope == Scope.BLOCKS) ? List.of() : statuses(charges, numbers),
				(blocked > 0) ? Duration.of(blocked, ChronoUnit.MICROS) : null);
		for (int c = 0; (!allowed || operation == Operation.COUNT_DENIALS) && c < charges.size(); c++) {
			if (operation.penalizes(scope, charges.get(c))) {
				addPenalties(charges.get(c), numbers, penalties);
			}
		}
		return decision;
	}

	private static void addPenalties(Charge charge, ByteBuffer numbers, List<Penalized> penalties) {
		for (Identifier identifier : charge.identifiers()) {
			long until = number(numbers, 0);
			long micros = number(numbers, 0);
			if (micros > 0) {
				penalties.add(new Penalized(charge, identifier, until, micros));
			}
		}
	}

	private static List<LimitStatus> statuses(List<Charge> charges, ByteBuffer numbers) {
		List<LimitStatus> statuses = new ArrayList<>(numbers.remaining() / (3 * Double.BYTES));
		for (int c = 0; c < charges.size(); c++) {
			Policy policy = charges.get(c).policy();
			List<Identifier> identifiers = charges.get(c).identifiers();
			for (int i = 0; i < identifiers.size(); i++) {
				List<Limit> limits = policy.limits();
				for (int l = 0; l < limits.size(); l++) {
					statuses.add(status(policy, identifiers.get(i), limits.get(l), numbers));
				}
			}
		}
		return statuses;
	}

	private static LimitStatus status(Policy policy, Identifier identifier, Limit limit, ByteBuffer numbers) {
		long remaining = number(numbers, 0);
		// Negative if a denied request was counted, which this limit alone would allow.
		long reset = number(numbers, policy.countDenied() ? -Limit.MAX_QUOTA : 0);
		// -1 if never.
		long retryAfter = number(numbers, -1);
		return LimitStatus.ofMicros(policy, identifier, limit, remaining, (reset < 0) ? -1 - reset : reset, retryAfter,
				(retryAfter != 0) != (reset < 0));
	}

	private static long number(ByteBuffer numbers, long least) {
		double number = (numbers.remaining() >= Double.BYTES) ? numbers.getDouble() : Double.NaN;
		if (number >= least && number <= Limit.MAX_QUOTA && number == Math.rint(number)) {
			return (long) number;
		}
		throw invalid(numbers.array());
	}

	static WrongReplyException invalid(@Nullable Object value) {
		Object shown = (value instanceof byte[] bytes) ? Arrays.toString(bytes) : value;
		return new WrongReplyException("Invalid reply of a script (%s): is this a Redis server?".formatted(shown),
				null);
	}

	static <T> List<T> list(@Nullable Object reply, int width, Function<List<?>, T> reader) {
		if (!(reply instanceof List<?> values) || values.size() % width != 0) {
			throw invalid(reply);
		}
		return IntStream.range(0, values.size() / width)
			.mapToObj((i) -> reader.apply(values.subList(width * i, width * (i + 1))))
			.toList();
	}

	static long number(@Nullable Object value) {
		if (value instanceof Long number && number >= 0 && number <= Limit.MAX_QUOTA) {
			return number;
		}
		throw invalid(value);
	}

	static Instant instant(@Nullable Object micros) {
		return Instant.EPOCH.plus(number(micros), ChronoUnit.MICROS);
	}

	static String text(@Nullable Object value) {
		if (value instanceof byte[] text) {
			return new String(text, StandardCharsets.UTF_8);
		}
		throw invalid(value);
	}

}
