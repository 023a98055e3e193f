package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * An exception and what it wraps, as a future does.
 */
final class Causes {

	/** Chains of causes may be circles. */
	private static final int LONGEST_CHAIN = 50;

	private Causes() {
	}

	static List<Throwable> of(Throwable ex) {
		List<Throwable> chain = new ArrayList<>();
		for (Throwable cause = ex; cause != null && chain.size() < LONGEST_CHAIN; cause = cause.getCause()) {
			chain.add(cause);
		}
		return chain;
	}

	static <T extends Throwable> @Nullable T find(Class<T> type, Throwable ex) {
		return of(ex).stream().filter(type::isInstance).map(type::cast).findFirst().orElse(null);
	}

}
