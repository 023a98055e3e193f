package io.github.ratelimit.spring.decide;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages that are logged once each, though every request may be a reason for them.
 * <p>
 * Safe for use by several threads.
 */
public final class LoggedOnce {

	/** Subjects may be what clients send. */
	private static final int MOST = 100;

	private final Logger logger;

	private final Set<Object> subjects = ConcurrentHashMap.newKeySet();

	/**
	 * Creates an instance.
	 * @param type the class that logs
	 */
	public LoggedOnce(Class<?> type) {
		this.logger = LoggerFactory.getLogger(type);
	}

	/** Returns whether nothing more is logged of a subject. */
	public boolean contains(Object subject) {
		return this.subjects.size() >= MOST || this.subjects.contains(subject);
	}

	/** Warns of a subject, unless it was logged before. */
	public void warn(Object subject, String message, @Nullable Object... arguments) {
		if (add(subject)) {
			this.logger.warn(message, arguments);
		}
	}

	/** Logs an error of the application, unless its subject was logged before. */
	public void error(Object subject, String message, @Nullable Object... arguments) {
		if (add(subject)) {
			this.logger.error(message, arguments);
		}
	}

	private boolean add(Object subject) {
		return !contains(subject) && this.subjects.add(subject);
	}

}
