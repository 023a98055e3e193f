package io.github.ratelimit.test;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * Many threads that do the same.
 */
public final class Threads {

	private Threads() {
	}

	public static void run(int threads, int attempts, Task task) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			List<Callable<Void>> tasks = IntStream.range(0, threads).mapToObj((thread) -> (Callable<Void>) () -> {
				for (int attempt = 0; attempt < attempts; attempt++) {
					task.run(thread, attempt);
				}
				return null;
			}).toList();
			for (Future<Void> result : executor.invokeAll(tasks)) {
				result.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	@FunctionalInterface
	public interface Task {

		void run(int thread, int attempt) throws Exception;

	}

}
