package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Set;

import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.Replication;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisException;
import redis.embedded.RedisSentinel;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A master, its replica, and a sentinel that makes the replica the master.
 */
@Timeout(180)
class SentinelIT {

	private static final JedisClientConfig CONFIG = DefaultJedisClientConfig.builder().build();

	private final OwnRedis master = new OwnRedis();

	private final OwnRedis replica = new OwnRedis("replicaof 127.0.0.1 " + this.master.port());

	private final HostAndPort address = new HostAndPort("127.0.0.1", TestRedis.freePort());

	private final Events events = new Events();

	private RedisSentinel sentinel;

	@BeforeEach
	void start() throws IOException {
		Replication.await(() -> this.master.jedis().info("replication"));
		this.sentinel = RedisSentinel.newRedisSentinel()
			.bind("127.0.0.1")
			.port(this.address.getPort())
			.setting("sentinel monitor main 127.0.0.1 %d 1".formatted(this.master.port()))
			.setting("sentinel down-after-milliseconds main 500")
			.setting("sentinel failover-timeout main 2000")
			.build();
	}

	@AfterEach
	void stop() throws IOException {
		this.sentinel.stop();
		this.replica.close();
		this.master.close();
	}

	private Server connect() {
		ConnectionSource source = OwnConnections.toMaster("main", Set.of(this.address), CONFIG, CONFIG);
		return new Server(Connecting.settings("main", Duration.ofSeconds(2)), source, this.events);
	}

	/** The former master lives, and its connections are open. */
	@Test
	void callsGoToTheNewMasterAfterAFailover() throws IOException {
		this.sentinel.start();
		try (Server server = connect(); Jedis asked = new Jedis(this.address)) {
			assertThat(Increment.of(server, "a")).isEqualTo(1);
			long end = System.nanoTime() + Increment.LONG.toNanos();
			boolean begun = false;
			while (port(asked) == this.master.port()) {
				assertThat(System.nanoTime()).isLessThan(end);
				begun = begun || failover(asked);
			}
			// The sentinel has closed the connections that there were before.
			try (Jedis present = new Jedis("127.0.0.1", this.replica.port())) {
				while (!"5".equals(present.get("b"))) {
					assertThat(System.nanoTime()).isLessThan(end);
					// Not told yet, or cut off.
					Connecting.tryIt(() -> Increment.submit(server, Increment.LONG, "b"));
				}
			}
		}
	}

	private static int port(Jedis sentinel) {
		return Integer.parseInt(sentinel.sentinelGetMasterAddrByName("main").get(1));
	}

	private static boolean failover(Jedis sentinel) {
		try {
			sentinel.sentinelFailover("main");
			return true;
		}
		catch (JedisException ex) {
			// It does not know the replica yet.
			return false;
		}
	}

	/** As a firewall or a load balancer does, which says nothing to either side. */
	@Test
	void callsSucceedWhenIdleConnectionsWereForgotten() throws IOException {
		this.sentinel.start();
		try (FaultyProxy toMaster = new FaultyProxy(this.master.uri());
				FaultyProxy toSentinel = new FaultyProxy(URI.create("redis://" + this.address));
				Server server = new Server(new ServerSettings("main", Duration.ofSeconds(4), 1, 8192), OwnConnections
					.toMaster("main", Set.of(new HostAndPort("127.0.0.1", toSentinel.uri().getPort())), CONFIG,
							DefaultJedisClientConfig.builder()
								.hostAndPortMapper((address) -> new HostAndPort("127.0.0.1", toMaster.uri().getPort()))
								.build()),
						this.events, 0)) {
			for (int i = 1; i <= 3; i++) {
				assertThat(Increment.of(server, "a")).isEqualTo(i);
				toMaster.forgetConnections();
				toSentinel.forgetConnections();
			}
			assertThat(this.events.all()).isEmpty();
		}
	}

	@Test
	void callsFailUntilASentinelAnswers() throws IOException {
		try (Server server = connect()) {
			Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(server, "a"))
				.withCauseInstanceOf(JedisException.class);
			this.sentinel.start();
			this.events.await("closed", 1);
			assertThat(Increment.of(server, "a")).isEqualTo(1);
		}
	}

}
