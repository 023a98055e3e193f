package io.github.ratelimit.redis;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Connections of a cluster client of Jedis. They are used without it, because it would
 * repeat what has timed out.
 */
final class ClientNodes implements NodeConnections {

	/** How long is waited for what the client would wait for for ever. */
	private static final Duration PATIENCE = Duration.ofSeconds(2);

	private final UnifiedJedis client;

	private final Supplier<Map<String, ConnectionPool>> pools;

	/**
	 * Uses the connections of a client, which remains the caller's to close.
	 * @param pools what the client knows: connections by host and port
	 */
	ClientNodes(UnifiedJedis client, Supplier<Map<String, ConnectionPool>> pools) {
		this.client = client;
		this.pools = pools;
	}

	@Override
	public List<HostAndPort> nodes() {
		return this.pools.get().keySet().stream().map(HostAndPort::from).toList();
	}

	@Override
	public Connection connect(HostAndPort node, String key) {
		ConnectionPool pool = this.pools.get().get(node.toString());
		if (pool == null) {
			meet(key);
			pool = this.pools.get().get(node.toString());
		}
		if (pool == null) {
			throw new JedisException("The client does not know the node " + node);
		}
		return DeadlineExecutor.borrow(pool, patience(pool));
	}

	/**
	 * The client meets nodes that are new to it when it looks for what they have. It does
	 * so on a thread of its own, because it may wait for ever for a connection.
	 */
	private void meet(String key) {
		CompletableFuture<Void> meeting = CompletableFuture.runAsync(() -> this.client.mget(key), (task) -> {
			Thread thread = new Thread(task, "ratelimit-cluster-client");
			thread.setDaemon(true);
			thread.start();
		});
		try {
			meeting.get(Deadline.remaining(PATIENCE).toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw UnreadableReplyException.of(Objects.requireNonNullElse(ex.getCause(), ex));
		}
		catch (TimeoutException ex) {
			throw new JedisConnectionException("The client did not find a node in time",
					new SocketTimeoutException("The node is new to the client"));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new JedisException("Interrupted while the client looked for a node", ex);
		}
	}

	/** What the client says, unless it would wait for ever. */
	private static Duration patience(ConnectionPool pool) {
		Duration given = pool.getMaxWaitDuration();
		return given.isNegative() ? PATIENCE : given;
	}

	@Override
	public void failed(HostAndPort node) {
		ConnectionPool pool = this.pools.get().get(node.toString());
		if (pool != null) {
			pool.clear();
		}
	}

	@Override
	public void retain(Set<HostAndPort> nodes) {
		// What the client connects to is its own business.
	}

	@Override
	public void close() {
		// It is the caller's.
	}

}
