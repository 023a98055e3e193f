package io.github.ratelimit.sample;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Stops and starts the Redis server of the playground, and shows its content. Only
 * available if the application has started the server. Not part of the rate limiter.
 */
@RestController
@RequestMapping("/redis")
@ConditionalOnBean(RedisServer.class)
class LocalRedisController {

	private final RedisServer server;

	LocalRedisController(RedisServer server) {
		this.server = server;
	}

	@GetMapping
	Map<String, Boolean> state() {
		return Map.of("running", this.server.isActive());
	}

	@PostMapping("/stop")
	synchronized Map<String, Boolean> stop() throws IOException {
		this.server.stop();
		return state();
	}

	@PostMapping("/start")
	synchronized Map<String, Boolean> start() throws IOException {
		if (!this.server.isActive()) {
			this.server.start();
		}
		return state();
	}

	/** Returns the Redis keys whose names contain a text. */
	@GetMapping("/keys")
	List<RedisKey> keys(@RequestParam String containing) {
		String pattern = "*" + containing.replaceAll("[*?\\[\\]\\\\]", "\\\\$0") + "*";
		try (UnifiedJedis jedis = RedisClient.create(LocalRedis.HOST, port())) {
			return jedis.scanIteration(1000, pattern)
				.collect(new ArrayList<>())
				.stream()
				.sorted()
				.map((key) -> new RedisKey(key, jedis.memoryUsage(key), jedis.pttl(key)))
				.toList();
		}
	}

	/** Answers while Redis is stopped: the page asks every second. */
	@ExceptionHandler(JedisException.class)
	@ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
	String redisDoesNotAnswer() {
		return "Redis does not answer\n";
	}

	/** Sends the commands that Redis executes until the client disconnects. */
	@GetMapping("/commands")
	SseEmitter commands() {
		SseEmitter listener = new SseEmitter(0L);
		Jedis jedis = new Jedis(LocalRedis.HOST, port());
		listener.onCompletion(jedis::close);
		Thread thread = new Thread(() -> CommandMonitor.run(jedis, listener), "redis-commands");
		thread.setDaemon(true);
		thread.start();
		return listener;
	}

	private int port() {
		return this.server.ports().get(0);
	}

	/**
	 * A Redis key with its memory and the time until it expires. The memory is
	 * {@code null} if it has just expired.
	 */
	record RedisKey(String key, @Nullable Long bytes, long ttlMillis) {
	}

}
