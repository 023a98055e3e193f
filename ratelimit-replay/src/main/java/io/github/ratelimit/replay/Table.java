package io.github.ratelimit.replay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A table for a terminal, and the text of what stands in it.
 */
final class Table {

	private static final int LONGEST_TEXT = 80;

	private final int left;

	private final List<String[]> rows = new ArrayList<>();

	/**
	 * @param left how many columns are aligned to the left
	 */
	Table(int left, String... headings) {
		this.left = left;
		this.rows.add(headings);
	}

	void add(String... cells) {
		this.rows.add(cells);
	}

	static String number(long number) {
		return String.format(Locale.ROOT, "%,d", number);
	}

	static String percent(long part, long whole) {
		return String.format(Locale.ROOT, "%.2f %%", 100.0 * part / whole);
	}

	/** Returns a time as {@code 1h2m3s}, in tenths of seconds below a minute. */
	static String time(Duration time) {
		long unit = (time.toMinutes() > 0) ? 1000 : (time.toSeconds() > 0) ? 100 : 1;
		Duration rounded = Duration.ofMillis(Math.round(time.toMillis() / (double) unit) * unit);
		return rounded.toString().substring(2).toLowerCase(Locale.ROOT);
	}

	/** Returns the beginning of a text of a stranger, without control characters. */
	static String printable(String text) {
		String plain = text.replaceAll("[\\p{Cntrl}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
		return (plain.length() > LONGEST_TEXT) ? plain.substring(0, LONGEST_TEXT) + "…" : plain;
	}

	@Override
	public String toString() {
		StringBuilder text = new StringBuilder();
		for (String[] row : this.rows) {
			StringBuilder line = new StringBuilder();
			for (int i = 0; i < row.length; i++) {
				int column = i;
				int width = this.rows.stream().mapToInt((cells) -> cells[column].length()).max().orElse(1);
				line.append(String.format((i < this.left) ? "%-" + width + "s  " : "%" + width + "s  ", row[i]));
			}
			text.append(line.toString().stripTrailing()).append(System.lineSeparator());
		}
		return text.toString();
	}

}
