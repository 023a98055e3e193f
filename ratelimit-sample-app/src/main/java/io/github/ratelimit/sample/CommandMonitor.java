package io.github.ratelimit.sample;

import java.io.IOException;

import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisMonitor;
import redis.clients.jedis.exceptions.JedisException;

import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Sends the commands that Redis executes to a browser, after an event {@code ready}.
 */
final class CommandMonitor extends JedisMonitor {

	private final SseEmitter listener;

	private CommandMonitor(SseEmitter listener) {
		this.listener = listener;
	}

	/** Returns when the browser or Redis has disconnected. */
	static void run(Jedis jedis, SseEmitter listener) {
		try (jedis) {
			jedis.monitor(new CommandMonitor(listener));
		}
		catch (JedisException | IllegalStateException ex) {
			listener.complete();
		}
	}

	@Override
	public void proceed(Connection connection) {
		send(SseEmitter.event().name("ready").data(""));
		super.proceed(connection);
	}

	@Override
	public void onCommand(String command) {
		send(SseEmitter.event().data(command));
	}

	private void send(SseEmitter.SseEventBuilder event) {
		try {
			this.listener.send(event);
		}
		catch (IOException ex) {
			throw new IllegalStateException("The browser has disconnected", ex);
		}
	}

}
