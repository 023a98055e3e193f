package io.github.ratelimit.test;

import java.time.InstantSource;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.RateLimiter;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.support.TypeBasedParameterResolver;

/**
 * Makes the stores that contracts are about. The class that holds nested contracts
 * implements this.
 */
public interface StoreUnderTest {

	/** A store without any counts or blocks. */
	RateLimiter create(InstantSource clock, PenaltyListener listener);

	default Stream<Algorithm> supportedAlgorithms() {
		return RateLimiterContract.algorithms();
	}

	/** Finds the instance of the class around a contract. */
	final class Resolver extends TypeBasedParameterResolver<StoreUnderTest> {

		@Override
		public StoreUnderTest resolveParameter(ParameterContext parameter, ExtensionContext context) {
			return context.getRequiredTestInstances().findInstance(StoreUnderTest.class).orElseThrow();
		}

	}

}
