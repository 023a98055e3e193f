package io.github.ratelimit.spring.redis;

import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Encryption, with a server that speaks it and wants to see a certificate of the client.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisEncryptionIT {

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), Limit.parse("5/3650d"));

	@TempDir
	private static Path folder;

	private static TestCertificate certificate;

	private static TestCertificate ofOtherHost;

	private static int plainPort;

	private static int port;

	private static RedisServer server;

	private static int portOfOtherHost;

	private static RedisServer serverOfOtherHost;

	private static UnifiedJedis jedis;

	private final ApplicationContextRunner runner = StarterRunners.nonWeb()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class))
		.withPropertyValues("ratelimit.redis.timeout=10s");

	@BeforeAll
	static void start() throws Exception {
		certificate = TestCertificate.of("localhost", folder);
		ofOtherHost = TestCertificate.of("other.example.com", folder);
		plainPort = TestRedis.freePort();
		port = TestRedis.freePort();
		server = startServer(plainPort, port, certificate);
		portOfOtherHost = TestRedis.freePort();
		serverOfOtherHost = startServer(TestRedis.freePort(), portOfOtherHost, ofOtherHost);
		jedis = RedisClient.create("127.0.0.1", plainPort);
	}

	private static RedisServer startServer(int plainPort, int port, TestCertificate own, String... settings) {
		Stream<String> tls = Stream.of("tls-port " + port, "tls-cert-file " + own.certificate(),
				"tls-key-file " + own.key(), "tls-ca-cert-file " + certificate.certificate());
		return TestRedis.startServer(plainPort, Stream.concat(tls, Stream.of(settings)).toArray(String[]::new));
	}

	@AfterAll
	static void stop() {
		jedis.close();
		TestRedis.stop(server);
		TestRedis.stop(serverOfOtherHost);
	}

	@BeforeEach
	void forget() {
		jedis.flushAll();
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void countsArriveWhenBundleTrustsServerAndHasCertificate(String prefix) {
		withBundle(certificate)
			.withPropertyValues(prefix + ".host=localhost", prefix + ".port=" + port, prefix + ".ssl.bundle=mine")
			.run((context) -> {
				context.getBean(RateLimiter.class).tryAcquire(POLICY, Identifier.GLOBAL);
				assertThat(jedis.dbSize()).isEqualTo(1);
			});
	}

	/** Each reason is told from the others, and the warning names the way out. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					mine  | ratelimit.redis.url=rediss://localhost:${tls} ratelimit.redis.ssl.bundle=mine spring.ssl.bundle.jks.mine.options.enabled-protocols=TLSv1.1 | No appropriate protocol | Encryption failed
					other | ratelimit.redis.url=rediss://localhost:${other} ratelimit.redis.ssl.bundle=mine | No subject alternative DNS name matching localhost found | The certificate of the server is not for this address: name a host of the certificate in ratelimit.redis.url. Tried
					''    | ratelimit.redis.url=rediss://localhost:${tls} | unable to find valid certification path | The certificate of the server is not trusted: does the bundle in ratelimit.redis.ssl.bundle hold its authority? Tried
					''    | ratelimit.redis.host=localhost ratelimit.redis.port=${tls} ratelimit.redis.ssl.enabled=true | unable to find valid certification path | The certificate of the server is not trusted
					''    | spring.data.redis.url=rediss://localhost:${plain} | Exception | spring.data.redis.ssl.enabled
					''    | ratelimit.redis.url=redis://localhost:${tls} | Exception | The server ends the connection: is ratelimit.redis.url right, and does it expect encryption (ratelimit.redis.ssl.enabled)? Tried
					''    | spring.ssl.bundle.pem.mine.truststore.certificate=${certificate} ratelimit.redis.url=rediss://localhost:${tls} ratelimit.redis.ssl.bundle=mine | Exception | Tried
					""")
	void refusedConnectionNamesTheWayOut(String bundle, String properties, String trace, String advice,
			CapturedOutput output) {
		ApplicationContextRunner trusting = bundle.isEmpty() ? this.runner
				: withBundle(bundle.equals("mine") ? certificate : ofOtherHost);
		String values = properties.replace("${tls}", "" + port)
			.replace("${other}", "" + portOfOtherHost)
			.replace("${plain}", "" + plainPort)
			.replace("${certificate}", certificate.certificate().toString());
		trusting.withPropertyValues(values.split(" ")).run((context) -> {
			RateLimiter limiter = context.getBean(RateLimiter.class);
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> limiter.tryAcquire(POLICY, Identifier.GLOBAL))
				.withStackTraceContaining(trace);
			RedisCheckIT.check(context);
		});
		assertThat(output).contains(advice);
		assertThat(jedis.dbSize()).isZero();
	}

	/** The node has no certificate for its address. */
	@Test
	void nodesThatAnnounceAddressesAreVerifiedByTheConfiguredName(CapturedOutput output) {
		int node = TestRedis.freePort();
		RedisServer cluster = startServer(TestRedis.freePort(), node, certificate, "cluster-enabled yes",
				"tls-cluster yes", "cluster-config-file nodes-" + node + ".conf", "cluster-announce-ip 127.0.0.1");
		try {
			ApplicationContextRunner ofCluster = withBundle(certificate).withPropertyValues(
					"ratelimit.redis.cluster.nodes=localhost:" + node, "ratelimit.redis.ssl.bundle=mine");
			ofCluster.run((context) -> {
				assignSlots(context.getBean(io.github.ratelimit.spring.redis.RedisServer.class));
				RedisCheckIT.check(context);
			});
			assertThat(output).contains("The certificate of the server is not for this address: name a host of the "
					+ "certificate in ratelimit.redis.cluster.nodes, or in ratelimit.redis.ssl.server-name if servers announce addresses. Tried");
			ofCluster.withPropertyValues("ratelimit.redis.ssl.server-name=localhost")
				.run((context) -> assertThat(
						context.getBean(RateLimiter.class).tryAcquire(POLICY, Identifier.GLOBAL).allowed())
					.isTrue());
			ofCluster.withPropertyValues("ratelimit.redis.ssl.server-name=other.example.com")
				.run((context) -> assertThatExceptionOfType(StoreException.class)
					.isThrownBy(() -> context.getBean(RateLimiter.class).tryAcquire(POLICY, Identifier.GLOBAL)));
		}
		finally {
			TestRedis.stop(cluster);
		}
	}

	private static void assignSlots(io.github.ratelimit.spring.redis.RedisServer server) {
		try (Connection connection = server.connect(server.address())) {
			CommandArguments slots = new CommandArguments(Command.CLUSTER).add("ADDSLOTS");
			IntStream.range(0, 16_384).forEach(slots::add);
			connection.executeCommand(slots);
			await().atMost(Duration.ofSeconds(30))
				.until(() -> new String(
						(byte[]) connection.executeCommand(new CommandArguments(Command.CLUSTER).add("INFO")))
					.contains("cluster_state:ok"));
		}
	}

	/** Shows the certificate that the server knows, and trusts another. */
	private ApplicationContextRunner withBundle(TestCertificate trusted) {
		return this.runner.withPropertyValues("spring.ssl.bundle.jks.mine.keystore.location=" + certificate.store(),
				"spring.ssl.bundle.jks.mine.keystore.password=" + TestCertificate.PASSWORD,
				"spring.ssl.bundle.jks.mine.truststore.location=" + trusted.store(),
				"spring.ssl.bundle.jks.mine.truststore.password=" + TestCertificate.PASSWORD);
	}

}
