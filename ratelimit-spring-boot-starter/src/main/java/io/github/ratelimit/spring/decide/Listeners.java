package io.github.ratelimit.spring.decide;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.function.SingletonSupplier;

/**
 * Beans of the application that are told of events. One that fails changes nothing, and
 * the others are told nevertheless. Its failure is logged once for each type of
 * exception, because there may be an event for every request.
 * <p>
 * Safe for use by several threads.
 *
 * @param <T> the type of the beans
 */
public final class Listeners<T> {

	private static final Logger logger = LoggerFactory.getLogger(Listeners.class);

	private final SingletonSupplier<List<T>> listeners;

	private final LoggedOnce warnings = new LoggedOnce(Listeners.class);

	/**
	 * Creates listeners.
	 * @param listeners supplies them, in order; called with the first event, because they
	 * may depend on what tells them
	 */
	public Listeners(Supplier<List<T>> listeners) {
		this.listeners = SingletonSupplier.of(listeners);
	}

	/**
	 * Tells each listener of an event.
	 * @param event tells one listener
	 */
	public void tell(Consumer<T> event) {
		List<T> all;
		try {
			all = this.listeners.obtain();
		}
		catch (RuntimeException ex) {
			logger.debug("Beans are no longer available while the application is closing", ex);
			return;
		}
		for (int i = 0; i < all.size(); i++) {
			T listener = all.get(i);
			try {
				event.accept(listener);
			}
			catch (RuntimeException ex) {
				this.warnings.warn(List.of(i, ex.getClass()),
						"{} failed, which changes nothing else. This is logged once for {}",
						listener.getClass().getName(), ex.getClass().getName(), ex);
			}
		}
	}

}
