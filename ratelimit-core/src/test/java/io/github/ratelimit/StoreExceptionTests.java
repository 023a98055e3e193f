package io.github.ratelimit;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;

import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;

class StoreExceptionTests {

	@Test
	void reasonIsTheInnermostCause() {
		Exception cause = new IllegalStateException("outer", new IOException("inner"));
		assertThat(new StoreException("failed", cause).reason()).isEqualTo("java.io.IOException: inner");
	}

	@Test
	void reasonHasTheNodeThatATimeoutDoesNotName() {
		Exception cause = new JedisConnectionException("The node 127.0.0.1:7000 does not answer",
				new JedisConnectionException(new SocketTimeoutException("Read timed out")));
		assertThat(new StoreException("failed", cause).reason())
			.isEqualTo("The node 127.0.0.1:7000 does not answer: java.net.SocketTimeoutException: Read timed out");
	}

	@Test
	void reasonHasTheAddressThatARefusedConnectionDoesNotName() {
		Exception cause = new JedisConnectionException("Failed to connect to 127.0.0.1:6379",
				new ConnectException("Connection refused"));
		assertThat(new StoreException("failed", cause).reason())
			.isEqualTo("Failed to connect to 127.0.0.1:6379: java.net.ConnectException: Connection refused");
	}

}
