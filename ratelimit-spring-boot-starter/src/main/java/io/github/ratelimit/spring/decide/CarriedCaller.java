package io.github.ratelimit.spring.decide;

import java.util.function.Supplier;

import io.github.ratelimit.Identifier;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NamedThreadLocal;

/**
 * The caller of a request or message, for threads that serve it without having it.
 * Implementations are safe for use by several threads, and hold no request, which the
 * container may have given to somebody else by then.
 */
@FunctionalInterface
public interface CarriedCaller {

	/** The attribute of a WebSocket session that has the caller of its handshake. */
	String ATTRIBUTE = CarriedCaller.class.getName();

	/**
	 * Returns an identifier, or a part of one, by its name in the configuration;
	 * {@code null} if the caller lacks it.
	 */
	@Nullable Identifier find(String name);

	/** Returns the caller of the current thread; {@code null} if there is none. */
	static @Nullable CarriedCaller current() {
		Supplier<? extends @Nullable CarriedCaller> known = Current.CALLER.get();
		return (known != null) ? known.get() : null;
	}

	/**
	 * Sets what supplies the caller of the current thread; {@code null} for none. Whoever
	 * does sets what this returns at the end: what supplied it until now.
	 */
	static @Nullable Supplier<? extends @Nullable CarriedCaller> exchange(
			@Nullable Supplier<? extends @Nullable CarriedCaller> caller) {
		Supplier<? extends @Nullable CarriedCaller> before = Current.CALLER.get();
		if (caller != null) {
			Current.CALLER.set(caller);
		}
		else {
			Current.CALLER.remove();
		}
		return before;
	}

	/** Hides the thread local. */
	final class Current {

		private static final ThreadLocal<@Nullable Supplier<? extends @Nullable CarriedCaller>> CALLER = new NamedThreadLocal<>(
				"Caller of the rate limiter");

		private Current() {
		}

	}

	/**
	 * Lets Micrometer's context propagation, which is optional, carry the caller over to
	 * other threads. Found by its name below {@code META-INF/services}.
	 */
	final class Accessor implements ThreadLocalAccessor<CarriedCaller> {

		@Override
		public Object key() {
			return ATTRIBUTE;
		}

		@Override
		public @Nullable CarriedCaller getValue() {
			Supplier<? extends @Nullable CarriedCaller> supplier = Current.CALLER.get();
			CarriedCaller caller = (supplier != null) ? supplier.get() : null;
			return (supplier != null && caller != null) ? new Supplied(caller, supplier) : null;
		}

		@Override
		public void setValue(CarriedCaller caller) {
			CarriedCaller known = (caller instanceof Supplied supplied) ? supplied.caller() : caller;
			exchange(() -> known);
		}

		@Override
		public void setValue() {
			exchange(null);
		}

		/** The user of a request may have logged in since the caller was read. */
		@Override
		public void restore(CarriedCaller before) {
			exchange((before instanceof Supplied supplied) ? supplied.supplier() : () -> before);
		}

		/** A caller, and what supplied it to the thread on which it was read. */
		private record Supplied(CarriedCaller caller,
				Supplier<? extends @Nullable CarriedCaller> supplier) implements CarriedCaller {

			@Override
			public @Nullable Identifier find(String name) {
				return this.caller.find(name);
			}

		}

	}

}
