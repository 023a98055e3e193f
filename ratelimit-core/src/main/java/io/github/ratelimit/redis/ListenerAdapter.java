package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Listener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * Notifies a listener of the application of what the connections to a server see.
 *
 * @param answered is run after each batch
 */
record ListenerAdapter(String server, RedisListener listener, Runnable answered) implements Listener {

	private static final Logger logger = LoggerFactory.getLogger(ListenerAdapter.class);

	@Override
	public void opened(JedisException cause) {
		notify(() -> this.listener.stoppedAnswering(this.server, cause));
	}

	@Override
	public void closed(Duration duration) {
		notify(() -> this.listener.answersAgain(this.server, duration));
	}

	@Override
	public void overloaded() {
		notify(() -> this.listener.queueFull(this.server));
	}

	@Override
	public void batch(int calls, long nanos) {
		this.answered.run();
		notify(() -> this.listener.answered(this.server, calls, Duration.ofNanos(nanos)));
	}

	/** A single server knows no other node to submit the calls to. */
	@Override
	public void redirected(List<Call> calls, JedisRedirectionException redirection) {
		JedisDataException failure = new JedisDataException(redirection.getMessage()
				+ ": the server is a node of a cluster, which RedisConnections.cluster connects to (ratelimit.redis.cluster.nodes)");
		calls.forEach((call) -> call.fail(failure));
	}

	private static void notify(Runnable event) {
		try {
			event.run();
		}
		catch (Throwable ex) {
			logger.warn("A RedisListener failed", ex);
		}
	}

}
