package io.github.ratelimit.spring.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

import io.github.ratelimit.spring.OwnRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;

/**
 * Several instances of an application under steady load, while the password of their
 * Redis changes. They read it from a file, as a secret that is mounted.
 */
class RotatedLoginIT {

	@TempDir
	private static Path secrets;

	@Test
	void passwordIsReadAgainBeforeAndAfterRedisRefusesIt() {
		write("first");
		try (OwnRedis redis = OwnRedis.started("user app on >first ~* +@all");
				Jedis admin = new Jedis("127.0.0.1", redis.port());
				Fleet fleet = new Fleet(3, "spring.config.import=configtree:" + secrets + "/",
						"ratelimit.redis.host=127.0.0.1", "ratelimit.redis.port=" + redis.port(),
						"ratelimit.redis.username=app", "ratelimit.redis.password=${redis-password}",
						"ratelimit.redis.timeout=" + Trial.BUDGET.toMillis() + "ms")) {
			trial(fleet).survive("password changed, known before", (traffic) -> {
				write("second");
				rotate(admin, "first", "second");
			}).assertCounted();
			Trial trial = trial(fleet);
			trial.survive("password changed, known after", (traffic) -> {
				rotate(admin, "second", "third");
				trial.awaitOutage(traffic);
				write("third");
			}).assertCounted();
		}
	}

	private static Trial trial(Fleet fleet) {
		return new Trial(fleet, List.of(UUID.randomUUID().toString()), List.of("somebody else"));
	}

	private static void rotate(Jedis admin, String old, String password) {
		admin.aclSetUser("app", ">" + password, "<" + old);
		admin.sendCommand(Command.CLIENT, "KILL", "USER", "app");
	}

	/** Files of secrets often end with a line. */
	private static void write(String password) {
		try {
			Files.writeString(secrets.resolve("redis-password"), password + "\n");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
