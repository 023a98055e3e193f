package io.github.ratelimit.spring.redis;

import java.util.function.Function;
import java.util.stream.Stream;

import io.github.ratelimit.spring.decide.LoggedOnce;
import redis.clients.jedis.RedisCredentials;

import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.ConfigTreePropertySource;
import org.springframework.boot.env.ConfigTreePropertySource.Option;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.StandardEnvironment;

/**
 * The login that the environment has now, for connections that are made after the start.
 * The server stays the same: a login of another one is not used. Safe for use by several
 * threads.
 */
final class CurrentLogin {

	private final LoggedOnce log = new LoggedOnce(CurrentLogin.class);

	private final ConfigurableEnvironment environment;

	private final Function<Environment, RedisServer> reader;

	private volatile RedisServer last;

	/**
	 * @param started the server as it was read at the start
	 */
	CurrentLogin(RedisServer started, ConfigurableEnvironment environment, Function<Environment, RedisServer> reader) {
		this.last = started;
		this.environment = environment;
		this.reader = reader;
	}

	RedisCredentials ofServer() {
		return read().login();
	}

	RedisCredentials ofSentinels() {
		return read().sentinelLogin();
	}

	private RedisServer read() {
		try {
			RedisServer now = this.reader.apply(now());
			if (isUnresolved(now) && !isUnresolved(this.last)) {
				throw new IllegalStateException("a placeholder in it has no value now, such as a file that is missing");
			}
			if (now.nodes().equals(this.last.nodes())) {
				this.last = now;
			}
		}
		catch (RuntimeException ex) {
			this.log.warn(ex.toString(), "The login of Redis stays as it was, because it cannot be read again: {}",
					ex.toString());
		}
		return this.last;
	}

	/** Spring Boot uses the text of such a placeholder as the value. */
	private static boolean isUnresolved(RedisServer server) {
		return Stream.of(server.login(), server.sentinelLogin())
			.anyMatch((login) -> String.valueOf(login.getUser()).contains("${")
					|| (login.getPassword() != null && String.valueOf(login.getPassword()).contains("${")));
	}

	/** Spring Boot reads the files of {@code configtree:} only once. */
	private Environment now() {
		StandardEnvironment now = new StandardEnvironment();
		MutablePropertySources sources = now.getPropertySources();
		sources.forEach((source) -> sources.remove(source.getName()));
		this.environment.getPropertySources()
			.stream()
			.filter((source) -> !ConfigurationPropertySources.isAttachedConfigurationPropertySource(source))
			.map((source) -> (source instanceof ConfigTreePropertySource files) ? new ConfigTreePropertySource(
					files.getName(), files.getSource(), Option.AUTO_TRIM_TRAILING_NEW_LINE) : source)
			.forEach(sources::addLast);
		return now;
	}

}
