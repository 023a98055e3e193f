package io.github.ratelimit.spring.chaos;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests without a pause from several clients, to each of several instances of an
 * application in turn, until it is closed.
 */
final class Traffic implements AutoCloseable {

	private static final int CLIENTS = 6;

	private final HttpClient client = HttpClient.newHttpClient();

	private final List<URI> instances;

	private final ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);

	private final List<Future<?>> clients = new ArrayList<>();

	private final AtomicLong sent = new AtomicLong();

	private final AtomicLong counted = new AtomicLong();

	private final AtomicLong uncounted = new AtomicLong();

	private final AtomicLong slowestNanos = new AtomicLong();

	private final Set<Integer> statuses = ConcurrentHashMap.newKeySet();

	private volatile boolean stopped;

	private final String user;

	/**
	 * Begins to send.
	 * @param instances where each instance answers
	 * @param user whose requests they are
	 */
	Traffic(List<URI> instances, String user) {
		this.instances = instances;
		this.user = user;
		for (int i = 0; i < CLIENTS; i++) {
			this.clients.add(this.threads.submit(this::send));
		}
	}

	private Void send() throws IOException, InterruptedException {
		while (!this.stopped) {
			int instance = (int) (this.sent.getAndIncrement() % this.instances.size());
			HttpRequest request = HttpRequest.newBuilder(this.instances.get(instance))
				.header("X-User", this.user)
				.build();
			long start = System.nanoTime();
			HttpResponse<String> response = this.client.send(request, BodyHandlers.ofString());
			this.slowestNanos.accumulateAndGet(System.nanoTime() - start, Math::max);
			this.statuses.add(response.statusCode());
			boolean seen = response.headers().firstValue("X-Rate-Limit-Remaining").isPresent();
			(seen ? this.counted : this.uncounted).incrementAndGet();
		}
		return null;
	}

	/** How many responses told what remains, so that the store has counted them. */
	long counted() {
		return this.counted.get();
	}

	/** How many responses did not, because the store failed. */
	long uncounted() {
		return this.uncounted.get();
	}

	/** The longest time that a response took. */
	Duration slowest() {
		return Duration.ofNanos(this.slowestNanos.get());
	}

	/** Every status that a response had. */
	Set<Integer> statuses() {
		return this.statuses;
	}

	/** Waits for every client's last response. */
	@Override
	public void close() {
		this.stopped = true;
		this.threads.shutdown();
		try {
			for (Future<?> client : this.clients) {
				client.get(30, TimeUnit.SECONDS);
			}
		}
		catch (ExecutionException | TimeoutException ex) {
			throw new IllegalStateException("A client has no answer", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
