package io.github.ratelimit.redis.script;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Collections;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

import com.github.benmanes.caffeine.cache.Interner;
import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;

/**
 * What all calls for a policy have in common: the suffix of its Redis keys, and its
 * numbers and its name as scripts read them.
 */
final class PolicyCode {

	/** Arguments depend on the current time, and are computed again after this time. */
	private static final long ARGUMENTS_MICROS = 1_000_000;

	final Policy policy;

	final byte[] suffix;

	final byte[] denialsSuffix;

	final byte[] name;

	private final Shape.OfPolicy shape;

	private final Shape.OfPolicy shadowShape;

	private final boolean hasArguments;

	private volatile Numbers numbers;

	private record Numbers(byte[] bytes, long micros) {

	}

	PolicyCode(Policy policy, Interner<Shape.OfPolicy> shapes) {
		this.policy = policy;
		this.suffix = RedisKeys.suffix(policy);
		this.denialsSuffix = RedisKeys.denialsSuffix(policy);
		this.name = (policy.name() + '\0').getBytes(StandardCharsets.US_ASCII);
		this.shape = shapes.intern(Shape.OfPolicy.of(policy, false));
		this.shadowShape = shapes.intern(Shape.OfPolicy.of(policy, true));
		this.hasArguments = Collections.max(this.shape.arguments()) > 0;
		this.numbers = numbers(0);
	}

	Shape.OfPolicy shape(boolean shadow) {
		return shadow ? this.shadowShape : this.shape;
	}

	/** Quotas, largest costs, and arguments for the current time, of all limits. */
	byte[] numbers(InstantSource clock) {
		Numbers numbers = this.numbers;
		if (this.hasArguments) {
			long now = Meter.micros(clock.instant());
			if (Math.abs(now - numbers.micros) >= ARGUMENTS_MICROS) {
				numbers = numbers(now);
				this.numbers = numbers;
			}
		}
		return numbers.bytes;
	}

	private Numbers numbers(long now) {
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
		return new Numbers(bytes.array(), now);
	}

}
