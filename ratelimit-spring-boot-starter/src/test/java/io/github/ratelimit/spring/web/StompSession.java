package io.github.ratelimit.spring.web;

import java.net.http.WebSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** A client of WebSocket that speaks as much of STOMP as is needed. */
final class StompSession implements WebSocket.Listener {

	private final BlockingQueue<String> errors = new LinkedBlockingQueue<>();

	final CompletableFuture<Void> connected = new CompletableFuture<>();

	private final StringBuilder received = new StringBuilder();

	@Nullable WebSocket socket;

	void send(int times, String destination) {
		for (int i = 0; i < times; i++) {
			write("SEND\ndestination:" + destination + "\n\n");
		}
	}

	void write(String frame) {
		assertThat(this.socket).isNotNull();
		this.socket.sendText(frame + '\0', true).join();
	}

	String error() throws InterruptedException {
		String error = this.errors.poll(1, TimeUnit.MINUTES);
		assertThat(error).isNotNull();
		return error;
	}

	void close() {
		assertThat(this.socket).isNotNull();
		this.socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
	}

	@Override
	public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
		this.received.append(data);
		if (last) {
			if (this.received.indexOf("CONNECTED\n") == 0) {
				this.connected.complete(null);
			}
			if (this.received.indexOf("MESSAGE\n") == 0) {
				this.errors.add(this.received.toString());
			}
			this.received.setLength(0);
		}
		socket.request(1);
		return null;
	}

}
