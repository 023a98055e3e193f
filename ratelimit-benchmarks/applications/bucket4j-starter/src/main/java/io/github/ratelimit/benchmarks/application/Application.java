package io.github.ratelimit.benchmarks.application;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;

/**
 * Limited by the starter of bucket4j; see {@code application.yml}. It needs a pool of
 * Jedis.
 */
@SpringBootApplication
@RestController
public class Application {

	public static void main(String[] arguments) {
		SpringApplication.run(Application.class, arguments);
	}

	@GetMapping("/hello")
	String hello() {
		return "hello";
	}

	@Bean
	JedisPool jedisPool(@Value("${spring.data.redis.host}") String host,
			@Value("${spring.data.redis.port}") int port) {
		JedisPoolConfig pool = new JedisPoolConfig();
		pool.setMaxTotal(64);
		pool.setMaxIdle(64);
		// Otherwise each call is preceded and followed by a PING.
		pool.setTestOnBorrow(false);
		pool.setTestOnReturn(false);
		return new JedisPool(pool, host, port);
	}

}
