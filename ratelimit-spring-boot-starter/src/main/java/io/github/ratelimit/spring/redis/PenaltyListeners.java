package io.github.ratelimit.spring.redis;

import io.github.ratelimit.Block;
import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.spring.decide.Listeners;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;

/**
 * Logs penalties, without the values of identifiers, and forwards them to all listener
 * beans. The beans are looked up at the first penalty, because they may depend on the
 * rate limiter.
 */
final class PenaltyListeners implements PenaltyListener {

	private static final Logger logger = LoggerFactory.getLogger(PenaltyListeners.class);

	private final Listeners<PenaltyListener> listeners;

	PenaltyListeners(ObjectProvider<PenaltyListener> listeners) {
		this.listeners = new Listeners<>(() -> listeners.orderedStream().toList());
	}

	@Override
	public void penalized(Block block, boolean shadow) {
		logger.info("An identifier ({}) {} until {}: {}", block.identifier().type(),
				shadow ? "would be blocked, if this were not in shadow mode," : "is blocked", block.until(),
				block.reason());
		this.listeners.tell((listener) -> listener.penalized(block, shadow));
	}

}
