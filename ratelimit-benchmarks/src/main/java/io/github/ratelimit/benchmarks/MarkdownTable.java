package io.github.ratelimit.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A table in Markdown, for the documentation.
 */
public final class MarkdownTable {

	private final int columns;

	private final List<String> lines = new ArrayList<>();

	/**
	 * Creates a table without rows.
	 * @param headings the headings; the first column is aligned to the left, the others
	 * hold numbers
	 */
	public MarkdownTable(String... headings) {
		this.columns = headings.length;
		add((Object[]) headings);
		this.lines.add("|---|" + "---:|".repeat(headings.length - 1));
	}

	/**
	 * Adds a row. Fractions are written with one digit.
	 * @param cells as many cells as there are columns
	 * @return this table
	 * @throws IllegalArgumentException if there are more or fewer
	 */
	public MarkdownTable add(Object... cells) {
		if (cells.length != this.columns) {
			throw new IllegalArgumentException(
					"Invalid row %s: must have %d cells.".formatted(List.of(cells), this.columns));
		}
		this.lines.add(List.of(cells).stream().map(MarkdownTable::text).collect(Collectors.joining(" | ", "| ", " |")));
		return this;
	}

	private static String text(Object cell) {
		if (cell instanceof Double number) {
			return String.format(Locale.ROOT, "%.1f", number);
		}
		if (cell instanceof Number number) {
			return String.format(Locale.ROOT, "%,d", number.longValue());
		}
		return cell.toString().replace("|", "\\|");
	}

	@Override
	public String toString() {
		return String.join("\n", this.lines);
	}

}
