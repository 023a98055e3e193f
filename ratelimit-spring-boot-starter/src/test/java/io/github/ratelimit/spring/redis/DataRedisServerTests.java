package io.github.ratelimit.spring.redis;

import java.lang.reflect.Constructor;
import java.util.List;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.policy.RateLimitProperties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;

import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link DataRedisServer}.
 */
class DataRedisServerTests {

	private final ApplicationContextRunner runner = StarterRunners.nonWeb();

	@Test
	void serverIsThatOfDetails() {
		SslBundle bundle = SslBundle.systemDefault();
		assertThat(new DataRedisServer(() -> new Details() {

			@Override
			public String getUsername() {
				return "user";
			}

			@Override
			public String getPassword() {
				return "secret";
			}

			@Override
			public SslBundle getSslBundle() {
				return bundle;
			}

			@Override
			public Standalone getStandalone() {
				return Standalone.of("example.com", 6380, 3);
			}

		}).find()).isEqualTo(
				new RedisServer(new HostAndPort("example.com", 6380), "user", "secret", 3, new RedisSsl(bundle)));
	}

	@Test
	void nothingIsEncryptedWhenDetailsHaveNoBundle() {
		assertThat(new DataRedisServer(Single::new).find())
			.isEqualTo(new RedisServer(new HostAndPort("details.example.com", 6380), null, null, 0, null));
	}

	@Test
	void sentinelsAreThoseOfDetails() {
		assertThat(new DataRedisServer(() -> new Details() {

			@Override
			public String getPassword() {
				return "secret";
			}

			@Override
			public Sentinel getSentinel() {
				return new Sentinels();
			}

		}).find()).isEqualTo(new RedisServer(List.of(new HostAndPort("a", 1), new HostAndPort("b", 2)),
				new RedisSentinel("main", "guard", "open"), false, null, "secret", 3, null));
	}

	@Test
	void clusterIsThatOfDetails() {
		Details details = new Details() {

			@Override
			public String getPassword() {
				return "secret";
			}

			@Override
			public Cluster getCluster() {
				return () -> List.of(new Node("a", 1), new Node("b", 2));
			}

		};
		assertThat(new DataRedisServer(() -> details).find()).isEqualTo(
				RedisServer.ofCluster(List.of(new HostAndPort("a", 1), new HostAndPort("b", 2)), null, "secret", null));
	}

	@Test
	void detailsOfReplicasAreRefused() {
		Details details = new Details() {

			@Override
			public MasterReplica getMasterReplica() {
				return () -> List.of(new Node("a", 1));
			}

		};
		assertThatExceptionOfType(InvalidConfigurationPropertyValueException.class)
			.isThrownBy(() -> new DataRedisServer(() -> details).find())
			.satisfies((ex) -> assertThat(ex.getName()).isEqualTo("spring.data.redis.masterreplica.nodes"));
	}

	@Test
	void detailsOfNothingAreRefused() {
		assertThatIllegalStateException().isThrownBy(() -> new DataRedisServer(Details::new).find())
			.withMessage("Invalid DataRedisConnectionDetails (details): must name a Redis server.");
	}

	@Test
	void detailsComeBeforePropertiesOfSpring() {
		this.runner.withBean(DataRedisConnectionDetails.class, Single::new)
			.withPropertyValues("spring.data.redis.cluster.nodes=a:1")
			.run((context) -> assertThat(find(context)).extracting(RedisServer::address)
				.hasToString("details.example.com:6380"));
	}

	@Test
	void ownServerComesBeforeDetails() {
		this.runner.withBean(DataRedisConnectionDetails.class, Single::new)
			.withPropertyValues("ratelimit.redis.host=own.example.com")
			.run((context) -> assertThat(find(context)).extracting(RedisServer::address)
				.hasToString("own.example.com:6379"));
	}

	@Test
	void ownServerComesBeforeSeveralDetails() {
		several().withPropertyValues("ratelimit.redis.url=redis://own.example.com")
			.run((context) -> assertThat(find(context)).extracting(RedisServer::address)
				.hasToString("own.example.com:6379"));
	}

	@Test
	void primaryDetailsAreUsedWhenThereAreSeveral() {
		several().withBean("primary", DataRedisConnectionDetails.class, Single::new, (bean) -> bean.setPrimary(true))
			.run((context) -> assertThat(find(context)).extracting(RedisServer::address)
				.hasToString("details.example.com:6380"));
	}

	@Test
	void startFailsWhenNoneOfSeveralDetailsIsPrimary() {
		several().run((context) -> assertThat(context).getFailure()
			.rootCause()
			.isInstanceOf(NoUniqueBeanDefinitionException.class)
			.hasMessageContainingAll("first", "second"));
	}

	private ApplicationContextRunner several() {
		return this.runner.withBean("first", DataRedisConnectionDetails.class, Details::new)
			.withBean("second", DataRedisConnectionDetails.class, Details::new);
	}

	/** Those of Spring Boot do not know that this URL asks for encryption. */
	@Test
	void propertiesAreReadFromThemselves() throws Exception {
		Constructor<?> details = Class
			.forName("org.springframework.boot.data.redis.autoconfigure.PropertiesDataRedisConnectionDetails")
			.getDeclaredConstructor(DataRedisProperties.class, SslBundles.class);
		details.setAccessible(true);
		DataRedisProperties properties = new DataRedisProperties();
		properties.setUrl("rediss://spring.example.com");
		DataRedisConnectionDetails ofProperties = (DataRedisConnectionDetails) details.newInstance(properties, null);
		this.runner.withBean(DataRedisConnectionDetails.class, () -> ofProperties)
			.withPropertyValues("spring.data.redis.url=rediss://spring.example.com")
			.run((context) -> assertThat(find(context)).isEqualTo(
					new RedisServer(new HostAndPort("spring.example.com", 6379), null, null, 0, new RedisSsl(null))));
	}

	@Test
	void applicationNeedsNoSpringDataRedis() {
		this.runner.withClassLoader(new FilteredClassLoader("org.springframework.boot.data.redis"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(RateLimiter.class)
				.doesNotHaveBean(DataRedisServer.class));
	}

	private static RedisServer find(AssertableApplicationContext context) {
		return RedisServer.find(context.getBean(RateLimitProperties.class).redis(), context.getEnvironment(), null,
				context.getBean(DataRedisServer.class));
	}

	private static class Details implements DataRedisConnectionDetails {

		@Override
		public @Nullable Standalone getStandalone() {
			return null;
		}

		@Override
		public String toString() {
			return "details";
		}

	}

	private static final class Sentinels implements DataRedisConnectionDetails.Sentinel {

		@Override
		public int getDatabase() {
			return 3;
		}

		@Override
		public String getMaster() {
			return "main";
		}

		@Override
		public List<Node> getNodes() {
			return List.of(new Node("a", 1), new Node("b", 2));
		}

		@Override
		public String getUsername() {
			return "guard";
		}

		@Override
		public String getPassword() {
			return "open";
		}

	}

	private static final class Single extends Details {

		@Override
		public Standalone getStandalone() {
			return Standalone.of("details.example.com", 6380);
		}

	}

}
