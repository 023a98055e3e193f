package io.github.ratelimit.spring.autoconfigure;

import java.time.Duration;

import io.github.ratelimit.redis.TimeBudget;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.providers.PooledConnectionProvider;

/**
 * Connections to the server that is the master at the time. One to a former master is
 * never used again, even if it is still open: what is counted there would be lost.
 */
final class MasterConnections extends PooledConnectionProvider {

	private final SentinelMaster master;

	MasterConnections(SentinelMaster master, JedisClientConfig config, ConnectionPoolConfig pool, Duration budget) {
		super(new Factory(master, config, budget), checked(pool));
		this.master = master;
	}

	/** Checks connections before they are used, which asks nobody. */
	private static ConnectionPoolConfig checked(ConnectionPoolConfig pool) {
		pool.setTestOnBorrow(true);
		return pool;
	}

	@Override
	public void close() {
		super.close();
		this.master.close();
	}

	private static final class Factory extends ConnectionFactory {

		private final SentinelMaster master;

		Factory(SentinelMaster master, JedisClientConfig config, Duration budget) {
			super(TimeBudget.connections(budget, master::get, config));
			this.master = master;
		}

		@Override
		public PooledObject<Connection> makeObject() throws Exception {
			HostAndPort address = this.master.get();
			return new ToServer(super.makeObject().getObject(), address);
		}

		@Override
		public boolean validateObject(PooledObject<Connection> connection) {
			return connection.getObject().isConnected() && ((ToServer) connection).address.equals(this.master.get());
		}

	}

	private static final class ToServer extends DefaultPooledObject<Connection> {

		private final HostAndPort address;

		ToServer(Connection connection, HostAndPort address) {
			super(connection);
			this.address = address;
		}

	}

}
