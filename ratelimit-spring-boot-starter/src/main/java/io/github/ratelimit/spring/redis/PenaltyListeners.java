package io.github.ratelimit.spring.redis;

import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.PenaltyListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/**
 * Logs penalties, without the values of identifiers, and forwards them to all listener
 * beans. The beans are looked up at the first penalty, because they may depend on the
 * rate limiter.
 */
final class PenaltyListeners implements PenaltyListener {

	private static final Logger logger = LoggerFactory.getLogger(PenaltyListeners.class);

	private final SingletonSupplier<List<PenaltyListener>> listeners;

	PenaltyListeners(ObjectProvider<PenaltyListener> listeners) {
		this.listeners = SingletonSupplier.of(() -> listeners.orderedStream().toList());
	}

	@Override
	public void penalized(Block block, boolean shadow) {
		logger.info("An identifier ({}) {} until {}: {}", block.identifier().type(),
				shadow ? "would be blocked, if this were not in shadow mode," : "is blocked", block.until(),
				block.reason());
		List<PenaltyListener> all;
		try {
			all = this.listeners.obtain();
		}
		catch (RuntimeException ex) {
			logger.debug("Beans are no longer available while the application is closing", ex);
			return;
		}
		all.forEach((listener) -> tell(listener, block, shadow));
	}

	private static void tell(PenaltyListener listener, Block block, boolean shadow) {
		try {
			listener.penalized(block, shadow);
		}
		catch (RuntimeException ex) {
			logger.warn("A listener of penalties failed: {}", listener.getClass().getName(), ex);
		}
	}

}
