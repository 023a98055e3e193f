package io.github.ratelimit.spring.redis;

import java.util.List;

import io.github.ratelimit.spring.policy.RedisProperties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RedisServer}.
 */
class RedisServerTests {

	private static final RedisSsl ENCRYPTED = new RedisSsl(null);

	private final MockEnvironment environment = new MockEnvironment();

	private final SslBundle bundle = SslBundle.of(SslStoreBundle.NONE);

	private final SslBundles bundles = new DefaultSslBundleRegistry("mine", this.bundle);

	@Test
	void serverIsOnThisHostWhenNothingIsConfigured() {
		assertThat(find()).isEqualTo(new RedisServer(new HostAndPort("localhost", 6379), null, null, 0, null));
	}

	@Test
	void serverOfSpringIsUsedWhenThereIsNoOther() {
		set("spring.data.redis.host=spring.example.com", "spring.data.redis.port=6380",
				"spring.data.redis.username=user", "spring.data.redis.password=secret", "spring.data.redis.database=3",
				"spring.data.redis.ssl.enabled=true");
		assertThat(find())
			.isEqualTo(new RedisServer(new HostAndPort("spring.example.com", 6380), "user", "secret", 3, ENCRYPTED));
	}

	@Test
	void portOfSpringIsUsedWhenItHasNoHost() {
		set("spring.data.redis.port=6380");
		assertThat(find().address()).isEqualTo(new HostAndPort("localhost", 6380));
	}

	@Test
	void urlOfSpringIsUsedWhenThereIsNoOther() {
		set("spring.data.redis.url=redis://spring.example.com:6380/2");
		assertThat(find()).isEqualTo(new RedisServer(new HostAndPort("spring.example.com", 6380), null, null, 2, null));
	}

	@Test
	void ownHostComesBeforeSpringAndTakesNothingFromIt() {
		set("ratelimit.redis.host=own.example.com",
				"spring.data.redis.url=redis://user:secret@spring.example.com:6380/2",
				"spring.data.redis.password=secret", "spring.data.redis.port=6380");
		assertThat(find()).isEqualTo(new RedisServer(new HostAndPort("own.example.com", 6379), null, null, 0, null));
	}

	@Test
	void urlOfSpringComesBeforeItsHostAndPort() {
		set("spring.data.redis.host=host.example.com", "spring.data.redis.port=6381",
				"spring.data.redis.url=redis://url.example.com:6380");
		assertThat(find().address()).isEqualTo(new HostAndPort("url.example.com", 6380));
	}

	@Test
	void ownUrlComesBeforeHostAndPortOfSpring() {
		set("spring.data.redis.host=host.example.com", "spring.data.redis.port=6381",
				"ratelimit.redis.url=redis://url.example.com");
		assertThat(find().address()).isEqualTo(new HostAndPort("url.example.com", 6379));
	}

	@Test
	void ownPartsAreUsed() {
		set("ratelimit.redis.host=own.example.com", "ratelimit.redis.port=6380", "ratelimit.redis.username=user",
				"ratelimit.redis.password=secret", "ratelimit.redis.database=3", "ratelimit.redis.ssl.enabled=true");
		assertThat(find())
			.isEqualTo(new RedisServer(new HostAndPort("own.example.com", 6380), "user", "secret", 3, ENCRYPTED));
	}

	@ParameterizedTest
	@CsvSource(nullValues = "-", textBlock = """
			redis://example.com:6380,                 example.com, 6380, -,    -,      0, false
			redis://example.com,                      example.com, 6379, -,    -,      0, false
			rediss://example.com:6380,                example.com, 6380, -,    -,      0, true
			redis://user:secret@example.com:6380/7,   example.com, 6380, user, secret, 7, false
			redis://:secret@example.com:6380,         example.com, 6380, -,    secret, 0, false
			redis://user:s%2Fe%40t@example.com:6380,  example.com, 6380, user, s/e@t,  0, false
			redis://user:a:b@example.com:6380,        example.com, 6380, user, a:b,    0, false
			redis://us%3Aer:a%3Ab@example.com:6380,   example.com, 6380, us:er, a:b,   0, false
			redis://a%3Ab@example.com:6380,           example.com, 6380, -,    a:b,    0, false
			redis://a+b:c+d@example.com:6380,         example.com, 6380, a+b,  c+d,    0, false
			redis://127.0.0.1:6380/,                  127.0.0.1,   6380, -,    -,      0, false
			redis://[::1]:6380,                       [::1],       6380, -,    -,      0, false
			""")
	void urlIsTakenApart(String url, String host, int port, String username, String password, int database,
			boolean ssl) {
		set("ratelimit.redis.url=" + url);
		RedisServer server = find();
		assertThat(server).isEqualTo(
				new RedisServer(new HostAndPort(host, port), username, password, database, ssl ? ENCRYPTED : null));
	}

	@Test
	void propertiesFillInWhatUrlDoesNotSay() {
		set("ratelimit.redis.url=redis://example.com:6380", "ratelimit.redis.username=user",
				"ratelimit.redis.password=secret", "ratelimit.redis.database=3", "ratelimit.redis.ssl.enabled=true");
		assertThat(find())
			.isEqualTo(new RedisServer(new HostAndPort("example.com", 6380), "user", "secret", 3, ENCRYPTED));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void bundleEncrypts(String prefix) {
		set(prefix + ".host=example.com", prefix + ".ssl.bundle=mine");
		assertThat(find().ssl()).isEqualTo(new RedisSsl(this.bundle));
		set(prefix + ".ssl.enabled=true");
		assertThat(find().ssl()).isEqualTo(new RedisSsl(this.bundle));
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "rediss" })
	void bundleEncryptsWhenThereIsUrl(String scheme) {
		set("ratelimit.redis.url=" + scheme + "://example.com", "ratelimit.redis.ssl.bundle=mine");
		assertThat(find().ssl()).isEqualTo(new RedisSsl(this.bundle));
	}

	@Test
	void nothingIsEncryptedWhenSpringHasSwitchedItsBundleOff() {
		set("spring.data.redis.ssl.bundle=mine", "spring.data.redis.ssl.enabled=false");
		assertThat(find().ssl()).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void sentinelsAreUsed(String prefix) {
		set(prefix + ".sentinel.master=main", prefix + ".sentinel.nodes=a:26379,[::1]:26380",
				prefix + ".sentinel.username=guard", prefix + ".sentinel.password=open", prefix + ".username=user",
				prefix + ".password=secret", prefix + ".database=3", prefix + ".ssl.enabled=true");
		assertThat(find())
			.isEqualTo(new RedisServer(List.of(new HostAndPort("a", 26379), new HostAndPort("[::1]", 26380)),
					new RedisSentinel("main", "guard", "open"), false, "user", "secret", 3, ENCRYPTED));
		assertThat(find()).hasToString("the master main of the sentinels [a:26379, [::1]:26380]");
	}

	/** A cluster has only the first database, whatever else Spring is told. */
	@ParameterizedTest
	@CsvSource({ "ratelimit.redis, 0", "spring.data.redis, 3" })
	void clusterIsUsed(String prefix, String database) {
		set(prefix + ".cluster.nodes=a:6379,[::1]:6380", prefix + ".username=user", prefix + ".password=secret",
				prefix + ".database=" + database, prefix + ".ssl.enabled=true");
		assertThat(find())
			.isEqualTo(new RedisServer(List.of(new HostAndPort("a", 6379), new HostAndPort("[::1]", 6380)), null, true,
					"user", "secret", 0, ENCRYPTED));
		assertThat(find()).hasToString("the cluster of the nodes [a:6379, [::1]:6380]");
	}

	/** As Spring Boot reads them. */
	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void nodesMayBeAddressesWithoutBrackets(String prefix) {
		set(prefix + ".cluster.nodes=::1:7000,2001:db8::7:7001,[::1]:7002");
		assertThat(find().nodes()).containsExactly(new HostAndPort("[::1]", 7000),
				new HostAndPort("[2001:db8::7]", 7001), new HostAndPort("[::1]", 7002));
	}

	/** Such as {@code ${REDIS_PASSWORD:}}. */
	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void emptyTextsAreAsIfTheyWereNotSet(String prefix) {
		for (String name : List.of("username", "password", "ssl.bundle", "client-name")) {
			set(prefix + "." + name + "=");
		}
		set("spring.data.redis.port=6380");
		assertThat(find()).isEqualTo(new RedisServer(new HostAndPort("localhost", 6380), null, null, 0, null));
		assertThat(ConnectionSettings.of(properties(), this.environment).clientName()).isNull();
		set(prefix + ".sentinel.master=main", prefix + ".sentinel.nodes=a:1", prefix + ".sentinel.username=",
				prefix + ".sentinel.password=");
		assertThat(find()).isEqualTo(new RedisServer(List.of(new HostAndPort("a", 1)),
				new RedisSentinel("main", null, null), false, null, null, 0, null));
	}

	/** Such as {@code redis://:${REDIS_PASSWORD:}@example.com}. */
	@ParameterizedTest
	@CsvSource({ "ratelimit.redis, :", "spring.data.redis, :", "ratelimit.redis, ''", "spring.data.redis, ''" })
	void emptyLoginInUrlIsNone(String prefix, String login) {
		set(prefix + ".url=redis://" + login + "@example.com");
		assertThat(find()).isEqualTo(new RedisServer(new HostAndPort("example.com", 6379), null, null, 0, null));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void userWithEmptyPasswordInUrlIsNoLogin(String prefix) {
		set(prefix + ".url=redis://user:@example.com");
		assertThat(find()).isEqualTo(new RedisServer(new HostAndPort("example.com", 6379), "user", null, 0, null));
	}

	@Test
	void propertiesFillInEmptyLoginOfUrl() {
		set("ratelimit.redis.url=redis://:@example.com", "ratelimit.redis.username=user",
				"ratelimit.redis.password=secret");
		assertThat(find()).isEqualTo(new RedisServer(new HostAndPort("example.com", 6379), "user", "secret", 0, null));
	}

	/** As for Spring Boot, which looks at the host only then. */
	@ParameterizedTest
	@CsvSource({ "url, redis://example.com:6379", "cluster.nodes, example.com:6379" })
	void emptyHostOfSpringDoesNotMatterBesideOthers(String part, String value) {
		set("spring.data.redis.host=", "spring.data.redis." + part + "=" + value);
		assertThat(find().address()).isEqualTo(new HostAndPort("example.com", 6379));
	}

	@Test
	void emptyHostOfSpringDoesNotMatterBesideSentinels() {
		set("spring.data.redis.host=", "spring.data.redis.sentinel.master=main",
				"spring.data.redis.sentinel.nodes=a:26379");
		assertThat(find().nodes()).containsExactly(new HostAndPort("a", 26379));
	}

	@Test
	void emptyNameOfClientIsThatOfSpring() {
		set("ratelimit.redis.client-name=", "spring.data.redis.client-name=app");
		assertThat(ConnectionSettings.of(properties(), this.environment).clientName()).isEqualTo("app");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void loginWithoutColonIsPassword(String prefix) {
		set(prefix + ".url=redis://secret@example.com");
		assertThat(find()).isEqualTo(new RedisServer(new HostAndPort("example.com", 6379), null, "secret", 0, null));
	}

	/** It replaces them there, as it does for Spring Boot itself. */
	@Test
	void propertiesOfSpringDoNotFillInWhatItsUrlDoesNotSay() {
		set("spring.data.redis.url=redis://example.com", "spring.data.redis.username=user",
				"spring.data.redis.password=secret", "spring.data.redis.database=3");
		assertThat(find()).isEqualTo(new RedisServer(new HostAndPort("example.com", 6379), null, null, 0, null));
	}

	@Test
	void textNamesNoPassword() {
		set("ratelimit.redis.url=redis://user:secret@example.com:6380/7");
		assertThat(find()).hasToString("example.com:6380");
	}

	private void set(String... properties) {
		for (String property : properties) {
			int end = property.indexOf('=');
			this.environment.setProperty(property.substring(0, end), property.substring(end + 1));
		}
	}

	private RedisServer find() {
		return RedisServer.find(properties(), this.environment, this.bundles, null);
	}

	private RedisProperties properties() {
		return Binder.get(this.environment).bindOrCreate("ratelimit.redis", RedisProperties.class);
	}

}
