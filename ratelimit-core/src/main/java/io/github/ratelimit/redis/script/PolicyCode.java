package io.github.ratelimit.redis.script;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * What is the same in all calls for a policy: the end of its Redis keys, its numbers as
 * scripts read them, its name, and the scripts for a few of its identifiers alone.
 */
final class PolicyCode {

	/** For up to so many identifiers scripts are kept here. */
	static final int FEW = 4;

	/** Arguments are about the present time: for so long they are not asked for again. */
	private static final long ARGUMENTS_MICROS = 1_000_000;

	private final Policy policy;

	private final Shape.OfPolicy shape;

	private final Shape.OfPolicy shadowShape;

	/** The end of its Redis keys. */
	final byte[] suffix;

	/** Its name as scripts read it. */
	final byte[] name;

	private final boolean hasArguments;

	private final AtomicReferenceArray<@Nullable Script> scripts = new AtomicReferenceArray<>(
			FEW * Operation.values().length);

	private volatile Numbers numbers;

	/**
	 * Numbers of the limits.
	 *
	 * @param madeAt the time that they were made for
	 */
	private record Numbers(byte[] bytes, long madeAt) {

	}

	PolicyCode(Policy policy) {
		this.policy = policy;
		this.shape = Shape.OfPolicy.of(policy, false);
		this.shadowShape = Shape.OfPolicy.of(policy, true);
		this.suffix = RedisKeys.suffix(policy);
		this.name = (policy.name() + '\0').getBytes(StandardCharsets.US_ASCII);
		this.hasArguments = this.shape.arguments().stream().anyMatch((count) -> count > 0);
		this.numbers = new Numbers(numbers(0), 0);
	}

	Shape.OfPolicy shape(boolean shadow) {
		return shadow ? this.shadowShape : this.shape;
	}

	/**
	 * Returns quotas, largest costs, and arguments about the present time, of all limits.
	 */
	byte[] numbers(InstantSource clock) {
		Numbers numbers = this.numbers;
		if (this.hasArguments) {
			long now = Meter.micros(clock.instant());
			if (Math.abs(now - numbers.madeAt) >= ARGUMENTS_MICROS) {
				numbers = new Numbers(numbers(now), now);
				this.numbers = numbers;
			}
		}
		return numbers.bytes;
	}

	private byte[] numbers(long now) {
		Algorithm algorithm = this.policy.algorithm();
		DoubleStream.Builder numbers = DoubleStream.builder();
		for (Limit limit : this.policy.limits()) {
			numbers.add(limit.quota());
			if (this.shape.ownLargest()) {
				numbers.add(algorithm.largestCost(limit));
			}
			LongStream.of(algorithm.arguments(limit, now)).forEach(numbers::add);
		}
		double[] all = numbers.build().toArray();
		ByteBuffer bytes = ByteBuffer.allocate(Double.BYTES * all.length);
		bytes.asDoubleBuffer().put(all);
		return bytes.array();
	}

	/** The script for some identifiers of this policy alone, if it is known already. */
	@Nullable Script script(Operation operation, int identifiers) {
		return (identifiers <= FEW) ? this.scripts.get(index(operation, identifiers)) : null;
	}

	void remember(Script script, Operation operation, int identifiers) {
		if (identifiers <= FEW) {
			this.scripts.set(index(operation, identifiers), script);
		}
	}

	private static int index(Operation operation, int identifiers) {
		return operation.ordinal() * FEW + identifiers - 1;
	}

}
