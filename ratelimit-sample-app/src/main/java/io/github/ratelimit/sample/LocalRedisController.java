package io.github.ratelimit.sample;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * For the playground, and only where the application has started a Redis of its own:
 * stops and starts it, and shows what is in it. No part of a rate limiter.
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

	/** The Redis keys whose names contain a text. */
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

	/** The commands that Redis runs, as long as the caller listens. */
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
	 * A Redis key: what it takes of the memory, and the time until it is gone. No bytes
	 * if it has just gone.
	 */
	record RedisKey(String key, @Nullable Long bytes, long ttlMillis) {
	}

}
