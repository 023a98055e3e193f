package io.github.ratelimit.test;

import java.net.URI;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;

import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;

public final class ClusterProxies implements AutoCloseable {

	private final TestCluster cluster;

	private final Map<HostAndPort, FaultyProxy> proxies;

	public ClusterProxies(TestCluster cluster) {
		this.cluster = cluster;
		this.proxies = cluster.addresses()
			.stream()
			.collect(Collectors.toMap((node) -> node, (node) -> new FaultyProxy(URI.create("redis://" + node))));
	}

	public JedisClientConfig config() {
		return DefaultJedisClientConfig.builder()
			.hostAndPortMapper((node) -> new HostAndPort("127.0.0.1", this.proxies.get(node).uri().getPort()))
			.build();
	}

	public FaultyProxy ofSlot(int slot) {
		return this.proxies.get(this.cluster.master(slot).address());
	}

	public FaultyProxy of(HostAndPort node) {
		return this.proxies.get(node);
	}

	public Collection<FaultyProxy> all() {
		return this.proxies.values();
	}

	@Override
	public void close() {
		this.proxies.values().forEach(FaultyProxy::close);
	}

}
