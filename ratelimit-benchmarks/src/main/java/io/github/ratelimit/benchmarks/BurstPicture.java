package io.github.ratelimit.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;

/**
 * Draws how each algorithm admits a burst, from decisions of the store in memory:
 *
 * <pre>
 * mvn -q compile -P burst-picture -pl ratelimit-benchmarks -am
 * </pre>
 *
 * The same decisions give identical files.
 */
public final class BurstPicture {

	private BurstPicture() {
	}

	/**
	 * Writes a file for each algorithm.
	 * @param arguments the folder
	 * @throws IOException if a file cannot be written
	 */
	public static void main(String[] arguments) throws IOException {
		Path folder = Files.createDirectories(Path.of(arguments[0]));
		for (Algorithm algorithm : Algorithms.all()) {
			Files.writeString(folder.resolve(fileName(algorithm)), draw(algorithm));
		}
	}

	static String fileName(Algorithm algorithm) {
		return algorithm.name() + ".svg";
	}

	static String draw(Algorithm algorithm) {
		return BurstSvg.draw(algorithm.name(), bound(algorithm), BurstTraffic.send(algorithm));
	}

	/** Returns the bound in the Javadoc of the algorithm, with default options. */
	private static long bound(Algorithm algorithm) {
		long quota = BurstTraffic.LIMIT.quota();
		return switch (algorithm.name()) {
			case "sliding-log", "sliding-window" -> quota;
			default -> 2 * quota;
		};
	}

}
