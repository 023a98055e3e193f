package io.github.ratelimit.spring.chaos;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Requests without a pause from several clients, to each of several instances of an
 * application in turn, until it is closed.
 */
final class Traffic implements AutoCloseable {

	static final int CLIENTS = 6;

	private static final int TOO_MANY_REQUESTS = 429;

	private final HttpClient client = HttpClient.newHttpClient();

	private final List<URI> instances;

	private final ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);

	private final List<CompletableFuture<?>> clients = new ArrayList<>();

	private final AtomicLong sent = new AtomicLong();

	/** When the allowed responses to each user came that told what remains. */
	private final Map<String, List<Long>> counted = new ConcurrentHashMap<>();

	private final Map<String, LongAdder> uncounted = new ConcurrentHashMap<>();

	private final LongAdder denied = new LongAdder();

	private final AtomicLong slowestNanos = new AtomicLong();

	private final Set<Integer> statuses = ConcurrentHashMap.newKeySet();

	private volatile boolean stopped;

	private final List<String> users;

	/**
	 * Begins to send.
	 * @param instances where each instance answers
	 * @param users whose requests they are, in turn
	 */
	Traffic(List<URI> instances, List<String> users) {
		this.instances = instances;
		this.users = users;
		for (String user : users) {
			this.counted.put(user, Collections.synchronizedList(new ArrayList<>()));
			this.uncounted.put(user, new LongAdder());
		}
		for (int i = 0; i < CLIENTS; i++) {
			this.clients.add(CompletableFuture.runAsync(this::send, this.threads));
		}
	}

	private void send() {
		while (!this.stopped) {
			long number = this.sent.getAndIncrement();
			URI instance = this.instances.get((int) (number % this.instances.size()));
			String user = this.users.get((int) (number / this.instances.size() % this.users.size()));
			HttpRequest request = HttpRequest.newBuilder(instance).header("X-User", user).build();
			long start = System.nanoTime();
			HttpResponse<Void> response = this.client.sendAsync(request, BodyHandlers.discarding()).join();
			this.slowestNanos.accumulateAndGet(System.nanoTime() - start, Math::max);
			this.statuses.add(response.statusCode());
			if (response.statusCode() == TOO_MANY_REQUESTS) {
				this.denied.increment();
			}
			else if (response.headers().firstValue("X-Rate-Limit-Remaining").isPresent()) {
				this.counted.get(user).add(System.nanoTime());
			}
			else {
				this.uncounted.get(user).increment();
			}
		}
	}

	/** How many allowed responses told what remains: the store has counted them. */
	long counted(String user) {
		return this.counted.get(user).size();
	}

	/** How many of them came since a {@link System#nanoTime()}. */
	long countedSince(String user, long start) {
		List<Long> times = this.counted.get(user);
		synchronized (times) {
			return times.stream().filter((time) -> time - start >= 0).count();
		}
	}

	/** How many responses did not, because the store failed. */
	long uncounted(String user) {
		return this.uncounted.get(user).sum();
	}

	/** How many responses to any user did not. */
	long uncounted() {
		return this.uncounted.values().stream().mapToLong(LongAdder::sum).sum();
	}

	/** How many requests of any user were denied. */
	long denied() {
		return this.denied.sum();
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
		CompletableFuture.allOf(this.clients.toArray(CompletableFuture[]::new)).orTimeout(30, TimeUnit.SECONDS).join();
	}

}
