package io.github.ratelimit.benchmarks.application;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/**
 * Limited by a handwritten script, through a pool of Jedis.
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
	RedisClient redisClient(@Value("${spring.data.redis.host}") String host,
			@Value("${spring.data.redis.port}") int port) {
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(64);
		pool.setMaxIdle(64);
		return RedisClient.builder()
			.hostAndPort(new HostAndPort(host, port))
			.clientConfig(DefaultJedisClientConfig.builder().build())
			.poolConfig(pool)
			.build();
	}

}
