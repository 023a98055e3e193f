package io.github.ratelimit.test;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * What a class logs during a test.
 */
public final class CapturedLog implements BeforeEachCallback, AfterEachCallback {

	private final Logger logger;

	private final ListAppender<ILoggingEvent> events = new ListAppender<>();

	public CapturedLog(Class<?> type) {
		this.logger = (Logger) LoggerFactory.getLogger(type);
		// Other threads may log while it is read.
		this.events.list = new CopyOnWriteArrayList<>();
	}

	@Override
	public void beforeEach(ExtensionContext context) {
		this.events.start();
		this.logger.addAppender(this.events);
	}

	@Override
	public void afterEach(ExtensionContext context) {
		this.logger.detachAppender(this.events);
	}

	/**
	 * Returns each level and message so far, such as {@code INFO It works again}, and
	 * whether there is a stack trace.
	 */
	public List<String> lines() {
		return this.events.list.stream()
			.map((event) -> event.getLevel() + " " + event.getFormattedMessage()
					+ ((event.getThrowableProxy() != null) ? " (with a stack trace)" : ""))
			.toList();
	}

	public void clear() {
		this.events.list.clear();
	}

}
