package io.github.ratelimit;

import java.io.IOException;
import java.net.SocketTimeoutException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class StoreExceptionTests {

	@Test
	void reasonIsTheInnermostCause() {
		Exception cause = new IllegalStateException("outer", new IOException("inner"));
		assertThat(new StoreException("failed", cause).reason()).isEqualTo("java.io.IOException: inner");
	}

	@Test
	void reasonAddsThePlaceToTheInnermostCause() {
		Exception cause = new IllegalStateException("The node 127.0.0.1:7000 does not answer",
				new SocketTimeoutException("Read timed out"));
		assertThat(new StoreException("failed", cause, "The node 127.0.0.1:7000 does not answer").reason())
			.isEqualTo("The node 127.0.0.1:7000 does not answer: java.net.SocketTimeoutException: Read timed out");
	}

}
