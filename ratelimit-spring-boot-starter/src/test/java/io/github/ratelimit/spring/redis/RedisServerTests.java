package io.github.ratelimit.spring.redis;

import java.lang.reflect.Constructor;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.config.RedisProperties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisCredentials;

import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ServerReader} and {@link DataRedisServer}: which server is used.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisServerTests {

	private static final String DETAILS = "spring.data.redis.host: [details.example.com:6380]";

	private final SslBundle bundle = SslBundle.of(SslStoreBundle.NONE);

	private final SslBundles bundles = new DefaultSslBundleRegistry("mine", this.bundle);

	private final ApplicationContextRunner runner = StarterRunners.nonWeb();

	/** Redis would refuse the text of the placeholder. */
	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis.", "spring.data.redis." })
	void loginStaysAsItWasWhileItsFileIsMissing(String prefix, CapturedOutput output) {
		Map<String, Object> files = new HashMap<>(Map.of("secret", "one"));
		MockEnvironment environment = new MockEnvironment().withProperty(prefix + "host", "a")
			.withProperty(prefix + "password", "${secret}");
		environment.getPropertySources().addLast(new MapPropertySource("files", files));
		Function<Environment, RedisServer> reader = (now) -> ServerReader
			.find(Binder.get(now).bindOrCreate(ServerReader.OWN, RedisProperties.class), now, null, null);
		CurrentLogin login = new CurrentLogin(reader.apply(environment), environment, reader);
		files.put("secret", "two");
		assertThat(login.ofServer().getPassword()).containsExactly('t', 'w', 'o');
		files.clear();
		assertThat(login.ofServer().getPassword()).containsExactly('t', 'w', 'o');
		assertThat(output).contains("a placeholder in it has no value now");
		files.put("secret", "three");
		assertThat(login.ofServer().getPassword()).containsExactly("three".toCharArray());
	}

	/** The same for this library and for Spring; only the properties of one are set. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					url=redis://example.com:6380                | url: [example.com:6380]
					url=redis://example.com                     | url: [example.com:6379]
					url=rediss://example.com:6380               | url: [example.com:6380] encrypted
					url=redis://user:secret@example.com:6380/7  | url: [example.com:6380] user:secret /7
					url=redis://:secret@example.com:6380        | url: [example.com:6380] -:secret
					url=redis://secret@example.com              | url: [example.com:6379] -:secret
					url=redis://user:@example.com               | url: [example.com:6379] user:-
					url=redis://:@example.com                   | url: [example.com:6379]
					url=redis://@example.com                    | url: [example.com:6379]
					url=redis://user:s%2Fe%40t@example.com:6380 | url: [example.com:6380] user:s/e@t
					url=redis://user:a:b@example.com:6380       | url: [example.com:6380] user:a:b
					url=redis://us%3Aer:a%3Ab@example.com:6380  | url: [example.com:6380] us:er:a:b
					url=redis://a%3Ab@example.com:6380          | url: [example.com:6380] -:a:b
					url=redis://a+b:c+d@example.com:6380        | url: [example.com:6380] a+b:c+d
					url=redis://127.0.0.1:6380/                 | url: [127.0.0.1:6380]
					url=redis://[::1]:6380                      | url: [[::1]:6380]
					url=redis://a;ssl.bundle=mine               | url: [a:6379] encrypted by the bundle
					url=rediss://a;ssl.bundle=mine              | url: [a:6379] encrypted by the bundle
					host=a;port=6380;username=user;password=secret;database=3;ssl.enabled=true | host: [a:6380] user:secret /3 encrypted
					host=a;username=;password=;ssl.bundle=      | host: [a:6379]
					host=a;ssl.bundle=mine                      | host: [a:6379] encrypted by the bundle
					host=a;ssl.bundle=mine;ssl.enabled=true     | host: [a:6379] encrypted by the bundle
					sentinel.master=main;sentinel.nodes=a:26379,[::1]:26380;sentinel.username=guard;sentinel.password=open;username=user;password=secret;database=3;ssl.enabled=true | sentinel.nodes: [a:26379, [::1]:26380] main guard:open user:secret /3 encrypted
					sentinel.master=main;sentinel.nodes=a:1;sentinel.username=;sentinel.password= | sentinel.nodes: [a:1] main
					cluster.nodes=a:6379,[::1]:6380;username=user;password=secret;ssl.enabled=true | cluster.nodes: [a:6379, [::1]:6380] cluster user:secret encrypted
					cluster.nodes=::1:7000,2001:db8::7:7001     | cluster.nodes: [[::1]:7000, [2001:db8::7]:7001] cluster
					""")
	void serverIsReadFromItsProperties(String properties, String expected) {
		for (String prefix : List.of("ratelimit.redis.", "spring.data.redis.")) {
			assertThat(find(prefix + properties.replace(";", ";" + prefix))).isEqualTo(prefix + expected);
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					test=                                             | ratelimit.redis.url: [localhost:6379]
					spring.data.redis.port=6380                       | ratelimit.redis.url: [localhost:6380]
					ratelimit.redis.username=;ratelimit.redis.password=;spring.data.redis.port=6380 | ratelimit.redis.url: [localhost:6380]
					spring.data.redis.host=a;ratelimit.redis.host=b   | ratelimit.redis.host: [b:6379]
					spring.data.redis.host=;spring.data.redis.url=redis://a | spring.data.redis.url: [a:6379]
					spring.data.redis.host=;spring.data.redis.cluster.nodes=a:1 | spring.data.redis.cluster.nodes: [a:1] cluster
					spring.data.redis.host=;spring.data.redis.sentinel.master=main;spring.data.redis.sentinel.nodes=a:1 | spring.data.redis.sentinel.nodes: [a:1] main
					spring.data.redis.cluster.nodes=a:1;spring.data.redis.database=3 | spring.data.redis.cluster.nodes: [a:1] cluster
					spring.data.redis.host=a;spring.data.redis.ssl.bundle=mine;spring.data.redis.ssl.enabled=false | spring.data.redis.host: [a:6379]
					spring.data.redis.url=redis://a;spring.data.redis.username=user;spring.data.redis.password=secret;spring.data.redis.database=3 | spring.data.redis.url: [a:6379]
					ratelimit.redis.url=redis://a;ratelimit.redis.username=user;ratelimit.redis.password=secret;ratelimit.redis.database=3;ratelimit.redis.ssl.enabled=true | ratelimit.redis.url: [a:6379] user:secret /3 encrypted
					ratelimit.redis.url=rediss://a;ratelimit.redis.ssl.server-name=b.example.com | ratelimit.redis.url: [a:6379] encrypted as b.example.com
					spring.data.redis.url=rediss://a;spring.data.redis.ssl.server-name=b | spring.data.redis.url: [a:6379] encrypted
					ratelimit.redis.url=redis://:@a;ratelimit.redis.username=user;ratelimit.redis.password=secret | ratelimit.redis.url: [a:6379] user:secret
					""")
	void sourcesAreNotMerged(String properties, String expected) {
		assertThat(find(properties)).isEqualTo(expected);
	}

	/** They are read again with each connection. */
	@Test
	void parametersOfUrlOfSpringHaveNoEffect(CapturedOutput output) {
		this.runner.withPropertyValues("spring.data.redis.url=rediss://:secret@a:6380/2?ssl_cert_reqs=none")
			.run((context) -> {
				RedisServer server = context.getBean(RedisServer.class);
				assertThat(text(server)).isEqualTo("spring.data.redis.url: [a:6380] -:secret /2 encrypted");
				assertThat(Objects.requireNonNull(server.logins()).server().get().getPassword())
					.containsExactly("secret".toCharArray());
			});
		assertThat(output)
			.containsOnlyOnce("The parameters of spring.data.redis.url (rediss://***@a:6380/2?***) have no effect")
			.doesNotContain("secret");
	}

	@Test
	void loginIsThatOfTheStartWhileItCannotBeRead(CapturedOutput output) {
		Map<String, Object> properties = new HashMap<>(
				Map.of("ratelimit.redis.url", "redis://:first@a", "ratelimit.redis.timeout", "1s"));
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("changing", properties)))
			.run((context) -> {
				Supplier<RedisCredentials> login = Objects.requireNonNull(context.getBean(RedisServer.class).logins())
					.server();
				properties.put("ratelimit.redis.url", "redis://:second@a");
				assertThat(login.get().getPassword()).isEqualTo("second".toCharArray());
				properties.put("ratelimit.redis.url", "redis://:third@other");
				assertThat(login.get().getPassword()).as("of another server").isEqualTo("second".toCharArray());
				properties.put("ratelimit.redis.url", "redis://:four#th@a");
				assertThat(login.get().getPassword()).isEqualTo("second".toCharArray());
				assertThat(login.get().getPassword()).isEqualTo("second".toCharArray());
			});
		assertThat(output).containsOnlyOnce("The login of Redis stays as it was, because it cannot be read again: ")
			.doesNotContain("four");
	}

	@ParameterizedTest
	@CsvSource({ "'', '', -", "'', app, app", "app-limits, app, app-limits" })
	void nameOfConnectionsIsThatOfSpringUnlessSet(String own, String ofSpring, String expected) {
		MockEnvironment environment = environment(
				"ratelimit.redis.client-name=" + own + ";spring.data.redis.client-name=" + ofSpring);
		assertThat(ServerReader.clientName(properties(environment), environment))
			.isEqualTo(expected.equals("-") ? null : expected);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					host=a;port=1                                  | host: [a:1] user:secret /3 encrypted by the bundle
					cluster.nodes=b:2                              | cluster.nodes: [b:2] cluster user:secret encrypted by the bundle
					sentinel.master=main;sentinel.nodes=c:3;sentinel.username=guard;sentinel.password=open | sentinel.nodes: [c:3] main guard:open user:secret /3 encrypted by the bundle
					""")
	void serverIsThatOfDetails(String properties, String expected) {
		DataRedisConnectionDetails details = details(properties);
		assertThat(text(new DataRedisServer(() -> details).find())).isEqualTo("spring.data.redis." + expected);
	}

	@Test
	void detailsOfReplicasAreRefused() {
		DataRedisConnectionDetails details = details("masterreplica.nodes=a:1");
		assertThatExceptionOfType(InvalidConfigurationPropertyValueException.class)
			.isThrownBy(() -> new DataRedisServer(() -> details).find())
			.satisfies((ex) -> assertThat(ex.getName()).isEqualTo("spring.data.redis.masterreplica.nodes"));
	}

	@Test
	void detailsComeBeforePropertiesOfSpringAndAfterOwn() {
		ApplicationContextRunner withDetails = this.runner.withBean(DataRedisConnectionDetails.class, this::details)
			.withPropertyValues("spring.data.redis.cluster.nodes=a:1");
		withDetails.run((context) -> assertThat(text(context.getBean(RedisServer.class))).startsWith(DETAILS));
		withDetails.withPropertyValues("ratelimit.redis.host=own.example.com")
			.run((context) -> assertThat(context.getBean(RedisServer.class)).hasToString("own.example.com:6379"));
	}

	@Test
	void oneOfSeveralDetailsMustBePrimary() {
		ApplicationContextRunner several = this.runner
			.withBean("first", DataRedisConnectionDetails.class, this::details)
			.withBean("second", DataRedisConnectionDetails.class, this::details);
		several.run((context) -> assertThat(context).getFailure()
			.rootCause()
			.isInstanceOf(NoUniqueBeanDefinitionException.class)
			.hasMessageContainingAll("first", "second"));
		several.withPropertyValues("ratelimit.redis.url=redis://own.example.com")
			.run((context) -> assertThat(context.getBean(RedisServer.class)).hasToString("own.example.com:6379"));
		several.withBean("primary", DataRedisConnectionDetails.class, this::details, (bean) -> bean.setPrimary(true))
			.run((context) -> assertThat(text(context.getBean(RedisServer.class))).startsWith(DETAILS));
	}

	/** Those of Spring Boot do not know that this URL asks for encryption. */
	@Test
	void propertiesAreReadFromThemselves() {
		DataRedisConnectionDetails details = ofProperties("url=rediss://a");
		this.runner.withBean(DataRedisConnectionDetails.class, () -> details)
			.withPropertyValues("spring.data.redis.url=rediss://a")
			.run((context) -> assertThat(text(context.getBean(RedisServer.class)))
				.isEqualTo("spring.data.redis.url: [a:6379] encrypted"));
	}

	private DataRedisConnectionDetails ofProperties(String properties) {
		MockEnvironment environment = environment(
				"spring.data.redis." + properties.replace(";", ";spring.data.redis."));
		try {
			Constructor<?> details = Class
				.forName("org.springframework.boot.data.redis.autoconfigure.PropertiesDataRedisConnectionDetails")
				.getDeclaredConstructor(DataRedisProperties.class, SslBundles.class);
			details.setAccessible(true);
			return (DataRedisConnectionDetails) details.newInstance(
					Binder.get(environment).bindOrCreate("spring.data.redis", DataRedisProperties.class), this.bundles);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Details that are no properties of Spring Boot, as those of a container. */
	private DataRedisConnectionDetails details(String properties) {
		DataRedisConnectionDetails all = ofProperties(
				properties + ";username=user;password=secret;database=3;ssl.bundle=mine");
		return (DataRedisConnectionDetails) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DataRedisConnectionDetails.class },
				(proxy, method, arguments) -> method.invoke(all, arguments));
	}

	private DataRedisConnectionDetails details() {
		return details("host=details.example.com;port=6380");
	}

	@Test
	void applicationNeedsNoSpringDataRedis() {
		this.runner.withClassLoader(new FilteredClassLoader("org.springframework.boot.data.redis"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(RateLimiter.class)
				.doesNotHaveBean(DataRedisServer.class));
	}

	private String find(String properties) {
		MockEnvironment environment = environment(properties);
		return text(ServerReader.find(properties(environment), environment, this.bundles, null));
	}

	private static MockEnvironment environment(String properties) {
		MockEnvironment environment = new MockEnvironment();
		for (String property : properties.split(";")) {
			environment.setProperty(property.substring(0, property.indexOf('=')),
					property.substring(property.indexOf('=') + 1));
		}
		return environment;
	}

	private static RedisProperties properties(MockEnvironment environment) {
		return Binder.get(environment).bindOrCreate("ratelimit.redis", RedisProperties.class);
	}

	private String text(RedisServer server) {
		RedisProperties.Sentinel sentinel = server.sentinel();
		String encrypted = (server.ssl() == this.bundle) ? " encrypted by the bundle" : " encrypted";
		return server.property() + ": " + server.nodes() + (server.cluster() ? " cluster" : "")
				+ ((sentinel != null) ? " " + sentinel.master() + login(sentinel.username(), sentinel.password()) : "")
				+ login(server.username(), server.password())
				+ ((server.database() != 0) ? " /" + server.database() : "") + ((server.ssl() != null) ? encrypted : "")
				+ ((server.serverName() != null) ? " as " + server.serverName().getAsciiName() : "");
	}

	private static String login(@Nullable String username, @Nullable String password) {
		return (username == null && password == null) ? ""
				: " " + ((username != null) ? username : "-") + ":" + ((password != null) ? password : "-");
	}

}
