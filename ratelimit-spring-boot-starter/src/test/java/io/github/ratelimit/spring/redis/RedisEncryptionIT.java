package io.github.ratelimit.spring.redis;

import java.nio.file.Path;
import java.security.cert.CertificateException;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.TestRedis;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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

	private static RedisServer startServer(int plainPort, int port, TestCertificate own) {
		return TestRedis.startServer(plainPort, "tls-port " + port, "tls-cert-file " + own.certificate(),
				"tls-key-file " + own.key(), "tls-ca-cert-file " + certificate.certificate());
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

	@Test
	void protocolIsThatOfBundle() {
		withBundle(certificate)
			.withPropertyValues("ratelimit.redis.url=rediss://localhost:" + port, "ratelimit.redis.ssl.bundle=mine",
					"spring.ssl.bundle.jks.mine.options.enabled-protocols=TLSv1.1")
			.run((context) -> assertRefused(context.getBean(RateLimiter.class))
				.withStackTraceContaining("No appropriate protocol"));
	}

	@Test
	void certificateOfAnotherHostIsRefused() {
		withBundle(ofOtherHost)
			.withPropertyValues("ratelimit.redis.url=rediss://localhost:" + portOfOtherHost,
					"ratelimit.redis.ssl.bundle=mine")
			.run((context) -> assertRefused(context.getBean(RateLimiter.class))
				.withRootCauseInstanceOf(CertificateException.class)
				.withStackTraceContaining("No subject alternative DNS name matching localhost found"));
	}

	/** Each is told from the others. */
	@Test
	void warningNamesTheWayOut(CapturedOutput output) {
		withBundle(ofOtherHost)
			.withPropertyValues("ratelimit.redis.url=rediss://localhost:" + portOfOtherHost,
					"ratelimit.redis.ssl.bundle=mine")
			.run(RedisEncryptionIT::check);
		assertThat(output).contains(
				"The certificate of the server is not for this address: name a host of the certificate in ratelimit.redis.url. Tried");
		this.runner
			.withPropertyValues("ratelimit.redis.host=localhost", "ratelimit.redis.port=" + port,
					"ratelimit.redis.ssl.enabled=true")
			.run(RedisEncryptionIT::check);
		assertThat(output).contains(
				"The certificate of the server is not trusted: does the bundle in ratelimit.redis.ssl.bundle hold its authority? Tried");
		this.runner.withPropertyValues("spring.data.redis.url=rediss://localhost:" + plainPort)
			.run(RedisEncryptionIT::check);
		assertThat(output).contains("spring.data.redis.ssl.enabled");
		this.runner.withPropertyValues("ratelimit.redis.url=redis://localhost:" + port).run(RedisEncryptionIT::check);
		assertThat(output).contains(
				"The server ends the connection: is ratelimit.redis.url right, and does it expect encryption (ratelimit.redis.ssl.enabled)? Tried");
	}

	private static void check(AssertableApplicationContext context) {
		context.getBean(RedisCheck.class)
			.check(context.getSourceApplicationContext(ConfigurableApplicationContext.class));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis.url=rediss://localhost:%d",
			"ratelimit.redis.host=localhost ratelimit.redis.port=%d ratelimit.redis.ssl.enabled=true" })
	void serverIsRefusedWhenJavaDoesNotTrustIt(String properties) {
		this.runner.withPropertyValues(properties.formatted(port).split(" "))
			.run((context) -> assertRefused(context.getBean(RateLimiter.class))
				.withStackTraceContaining("unable to find valid certification path"));
	}

	@Test
	void clientIsRefusedWhenBundleHasNoCertificate() {
		this.runner
			.withPropertyValues("spring.ssl.bundle.pem.mine.truststore.certificate=" + certificate.certificate(),
					"ratelimit.redis.url=rediss://localhost:" + port, "ratelimit.redis.ssl.bundle=mine")
			.run((context) -> assertRefused(context.getBean(RateLimiter.class)));
		assertThat(jedis.dbSize()).isZero();
	}

	private static ThrowableAssertAlternative<StoreException> assertRefused(RateLimiter limiter) {
		return assertThatExceptionOfType(StoreException.class)
			.isThrownBy(() -> limiter.tryAcquire(POLICY, Identifier.GLOBAL));
	}

	/** Shows the certificate that the server knows, and trusts another. */
	private ApplicationContextRunner withBundle(TestCertificate trusted) {
		return this.runner.withPropertyValues("spring.ssl.bundle.jks.mine.keystore.location=" + certificate.store(),
				"spring.ssl.bundle.jks.mine.keystore.password=" + TestCertificate.PASSWORD,
				"spring.ssl.bundle.jks.mine.truststore.location=" + trusted.store(),
				"spring.ssl.bundle.jks.mine.truststore.password=" + TestCertificate.PASSWORD);
	}

}
