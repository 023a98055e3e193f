package io.github.ratelimit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;

import io.github.ratelimit.Algorithm;

/**
 * A script. Those that decide requests are put together from the parts of the algorithms
 * that the requests use, and the driver.
 */
final class Script {

	private final String source;

	private final String sha1;

	private Script(String source) {
		this.source = source;
		this.sha1 = sha1(source);
	}

	/**
	 * Puts a script together.
	 * @param algorithms one of each algorithm that the requests use
	 * @return the script
	 * @throws IllegalArgumentException if an algorithm has no script part
	 */
	static Script of(Collection<Algorithm> algorithms) {
		StringBuilder source = new StringBuilder("local algorithms = {}\n");
		for (Algorithm algorithm : algorithms) {
			source.append("do\n").append(read(algorithm.getClass(), algorithm.script() + ".lua")).append("end\n");
		}
		return new Script(source.append(read(Script.class, "driver.lua")).toString());
	}

	/**
	 * Reads a script that stands alone.
	 * @param name name of the resource, without {@code .lua}
	 */
	static Script named(String name) {
		return new Script(read(Script.class, name + ".lua"));
	}

	/**
	 * Returns the call of the script by its hash. Its text is sent only if the server
	 * answers that it does not know the hash, and has therefore not run anything.
	 * @param keys Redis keys of one slot
	 */
	Call call(List<String> keys, List<String> arguments) {
		return Call.script(this.sha1, this.source, keys, arguments);
	}

	private static String read(Class<?> neighbour, String name) {
		try (InputStream resource = neighbour.getResourceAsStream(name)) {
			if (resource == null) {
				throw new IllegalArgumentException("Invalid algorithm (%s): there is no script part %s beside it."
					.formatted(neighbour.getName(), name));
			}
			return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String sha1(String source) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-1").digest(source.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(hash);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java runtime has SHA-1", ex);
		}
	}

}
