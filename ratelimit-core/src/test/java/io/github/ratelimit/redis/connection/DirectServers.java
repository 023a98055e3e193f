package io.github.ratelimit.redis.connection;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;

import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.util.JedisClusterCRC16;
import redis.clients.jedis.util.JedisURIHelper;

/**
 * Sends calls on the thread that hands them over, and waits for the answers. A test may
 * count the calls, and do something before one of them.
 */
public final class DirectServers implements Servers {

	private final ToIntFunction<byte[]> slots;

	private final IntFunction<ConnectionPool> servers;

	private final AtomicInteger count = new AtomicInteger();

	private final Map<Integer, Runnable> befores = new ConcurrentHashMap<>();

	private DirectServers(ToIntFunction<byte[]> slots, IntFunction<ConnectionPool> servers) {
		this.slots = slots;
		this.servers = servers;
	}

	/** The server of the test run. */
	public static DirectServers create() {
		return of(TestRedis.uri());
	}

	public static DirectServers of(URI uri) {
		ConnectionPool pool = pool(JedisURIHelper.getHostAndPort(uri),
				DefaultJedisClientConfig.builder()
					.user(JedisURIHelper.getUser(uri))
					.password(JedisURIHelper.getPassword(uri))
					.database(JedisURIHelper.getDBIndex(uri)));
		return new DirectServers((key) -> 0, (slot) -> pool);
	}

	public static DirectServers of(TestCluster cluster) {
		Map<HostAndPort, ConnectionPool> pools = new HashMap<>();
		Map<Integer, ConnectionPool> masters = new HashMap<>();
		return new DirectServers(JedisClusterCRC16::getSlot, (slot) -> {
			synchronized (masters) {
				return masters.computeIfAbsent(slot, (number) -> pools.computeIfAbsent(cluster.master(number).address(),
						(address) -> pool(address, DefaultJedisClientConfig.builder())));
			}
		});
	}

	private static ConnectionPool pool(HostAndPort address, DefaultJedisClientConfig.Builder config) {
		ConnectionPool pool = new ConnectionPool(address,
				config.clientSetInfoConfig(ClientSetInfoConfig.DISABLED).timeoutMillis(60_000).build());
		pool.setMaxTotal(64);
		return pool;
	}

	@Override
	public int slot(byte[] key) {
		return this.slots.applyAsInt(key);
	}

	/** Returns the number of calls since the last time. */
	public int count() {
		return this.count.getAndSet(0);
	}

	/** Does something before one of the calls that follow, which fails if that fails. */
	public void before(int which, Runnable task) {
		this.befores.put(this.count.get() + which, task);
	}

	@Override
	public void submit(Call call) {
		submit(List.of(call));
	}

	/** Sends calls of one codec and slot together. */
	public void submit(List<? extends Call> calls) {
		List<Call> taken = new ArrayList<>(calls);
		taken.removeIf((call) -> !call.take(System.nanoTime()));
		if (taken.isEmpty()) {
			return;
		}
		Codec codec = taken.get(0).codec();
		Runnable before = this.befores.remove(this.count.incrementAndGet());
		try (Connection connection = this.servers.apply(taken.get(0).slot()).getResource()) {
			if (before != null) {
				before.run();
			}
			List<Object> replies = exchange(connection, codec.commands(taken, false));
			if (replies.get(0) instanceof JedisNoScriptException) {
				replies = exchange(connection, codec.commands(taken, true));
			}
			codec.deliver(taken, replies);
		}
		catch (JedisException ex) {
			taken.forEach((call) -> call.fail(ex));
		}
	}

	private static List<Object> exchange(Connection connection, List<CommandArguments> commands) {
		commands.forEach(connection::sendCommand);
		return connection.getMany(commands.size());
	}

	@Override
	public void close() {
	}

}
