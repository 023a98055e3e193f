package io.github.ratelimit.test;

import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a master has passed on to its replica.
 */
public final class Replication {

	private static final Pattern REPLICA = Pattern.compile("slave0:.*offset=(\\d+)");

	private Replication() {
	}

	/**
	 * Waits until the replica has what the master has. Not by WAIT, which knows only of
	 * what its own connection has written.
	 * @param info asks the master for {@code INFO replication}
	 */
	public static void await(Supplier<String> info) {
		TestCluster.await("The replica has what the master has", () -> isComplete(info.get()));
	}

	private static boolean isComplete(String info) {
		Matcher replica = REPLICA.matcher(info);
		return replica.find() && info.contains("master_repl_offset:" + replica.group(1) + "\r\n");
	}

}
