package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.Base64;

import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.SslOptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server that is connected to by TLS.
 */
@Timeout(120)
@SuppressWarnings("try")
class EncryptionIT {

	private static final String PASSWORD = "password";

	@TempDir
	private static Path folder;

	private static OwnRedis redis;

	private static HostAndPort address;

	private final Events events = new Events();

	@BeforeAll
	static void start() throws Exception {
		Path store = folder.resolve("store.p12");
		Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-genkeypair", "-alias", "test", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=test",
				"-ext", "san=dns:localhost", "-validity", "36500", "-storetype", "PKCS12", "-storepass", PASSWORD,
				"-keystore", store.toString())
			.inheritIO()
			.start();
		assertThat(keytool.waitFor()).isZero();
		KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
		Certificate certificate = keys.getCertificate("test");
		Path crt = write("test.crt", "CERTIFICATE", certificate.getEncoded());
		Path key = write("test.key", "PRIVATE KEY", keys.getKey("test", PASSWORD.toCharArray()).getEncoded());
		trust("trusted.p12", certificate);
		address = new HostAndPort("localhost", TestRedis.freePort());
		redis = new OwnRedis("tls-port " + address.getPort(), "tls-cert-file " + crt, "tls-key-file " + key,
				"tls-ca-cert-file " + crt, "tls-auth-clients no");
	}

	private static void trust(String store, Certificate... certificates) throws Exception {
		KeyStore trusted = KeyStore.getInstance("PKCS12");
		trusted.load(null, null);
		for (Certificate certificate : certificates) {
			trusted.setCertificateEntry("test", certificate);
		}
		try (var out = Files.newOutputStream(folder.resolve(store))) {
			trusted.store(out, PASSWORD.toCharArray());
		}
	}

	private static Path write(String name, String label, byte[] content) throws IOException {
		return Files.writeString(folder.resolve(name), "-----BEGIN %s-----\n%s\n-----END %1$s-----\n".formatted(label,
				Base64.getMimeEncoder(64, new byte[] { '\n' }).encodeToString(content)));
	}

	@AfterAll
	static void stop() {
		redis.close();
	}

	private Server server(String trusted) {
		JedisClientConfig config = DefaultJedisClientConfig.builder()
			.sslOptions(SslOptions.builder()
				.trustStoreType("PKCS12")
				.truststore(folder.resolve(trusted).toFile(), PASSWORD.toCharArray())
				.build())
			.build();
		return new Server(Connecting.settings("tls", Duration.ofSeconds(2)), OwnConnections.to(address, config),
				this.events);
	}

	@Test
	void lateAnswerOverTlsEndsTheOutage() {
		try (Server server = server("trusted.p12")) {
			assertThat(Increment.of(server, "a")).isEqualTo(1);
			Increment sent;
			try (StoppedServer stopped = StoppedServer.stop(redis.jedis())) {
				sent = Increment.submit(server, Increment.LONG, "a");
				Connecting.assertFails(Reason.SILENCE, sent::await);
			}
			this.events.await("closed", 1);
			assertThat(Increment.of(server, "a")).isEqualTo(3);
			assertThat(sent.late()).isEqualTo(2L);
			assertThat(this.events.all()).containsExactly("opened", "closed");
		}
	}

	@Test
	void callsFailWhenTheServerIsNotTrusted() throws Exception {
		trust("empty.p12");
		try (Server server = server("empty.p12")) {
			Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(server, "b"))
				.withStackTraceContaining("trustAnchors");
		}
	}

}
