package io.github.ratelimit.benchmarks;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How often a Redis server has executed each command, and how long it took, from
 * {@code INFO commandstats}. Commands called by scripts are included, and their time is
 * also part of the time of the script.
 *
 * @param commands by lower-case name of the command
 */
public record CommandStatistics(Map<String, Command> commands) {

	private static final Pattern LINE = Pattern.compile("cmdstat_([^:]+):calls=(\\d+),usec=(\\d+).*");

	private static final Command NONE = new Command(0, 0);

	public CommandStatistics {
		commands = Map.copyOf(commands);
	}

	/**
	 * Parses the section {@code commandstats} of INFO.
	 */
	public static CommandStatistics parse(String info) {
		Map<String, Command> commands = new HashMap<>();
		info.lines().map(LINE::matcher).filter(Matcher::matches).forEach((line) -> {
			long calls = Long.parseLong(line.group(2));
			commands.put(line.group(1), new Command(calls, Long.parseLong(line.group(3))));
		});
		return new CommandStatistics(commands);
	}

	/**
	 * Returns the difference to earlier statistics.
	 * @param before earlier statistics of the same server
	 * @return the differences, for the commands that were executed
	 */
	public CommandStatistics since(CommandStatistics before) {
		Map<String, Command> since = new HashMap<>();
		this.commands.forEach((name, command) -> {
			Command earlier = before.command(name);
			if (command.calls > earlier.calls) {
				since.put(name, new Command(command.calls - earlier.calls, command.micros - earlier.micros));
			}
		});
		return new CommandStatistics(since);
	}

	/**
	 * Returns the statistics without one command.
	 * @param name the name of the command
	 */
	CommandStatistics without(String name) {
		Map<String, Command> others = new HashMap<>(this.commands);
		others.remove(name);
		return new CommandStatistics(others);
	}

	/**
	 * Returns the statistics of one command.
	 * @param name the name in lower case
	 */
	public Command command(String name) {
		return this.commands.getOrDefault(name, NONE);
	}

	/**
	 * Returns how many commands were called by scripts.
	 */
	public long callsInScripts() {
		return this.commands.entrySet()
			.stream()
			.filter((entry) -> !entry.getKey().matches("eval.*|info.*|script.*"))
			.mapToLong((entry) -> entry.getValue().calls)
			.sum();
	}

	/**
	 * The statistics of one command.
	 *
	 * @param calls how often it was executed
	 * @param micros server time in microseconds, for all calls together
	 */
	public record Command(long calls, long micros) {

		/**
		 * Returns the server time of one call.
		 */
		public double microsPerCall() {
			return (double) this.micros / this.calls;
		}

	}

}
