package io.github.ratelimit.replay;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

import io.github.ratelimit.replay.Comparison.Result;

/**
 * Draws requests and denials over time as SVG, a row for each algorithm.
 */
final class Picture {

	private static final int WIDTH = 860;

	private static final int ROW = 120;

	private static final int BAR = 80;

	private static final int LEFT = 30;

	private static final int TOP = 50;

	private static final String GREY = "#b8bec5";

	private static final String RED = "#c0392b";

	private final StringBuilder svg = new StringBuilder();

	private final TreeMap<Long, long[]> periods;

	private final long length;

	private Picture(Timeline timeline) {
		this.periods = timeline.periods;
		this.length = timeline.length;
	}

	/** Returns the picture. There has to be a request. */
	static String draw(Comparison comparison) {
		Picture picture = new Picture(comparison.timeline);
		List<Result> results = comparison.results;
		picture.add(
				"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %s %s\" font-family=\"sans-serif\" font-size=\"12\">",
				WIDTH + 2 * LEFT, TOP + ROW * results.size());
		picture.add("<title>Requests that limits deny</title><rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>");
		picture.text("start", 24,
				"Requests in each %s, allowed (grey) and denied (red) by %s".formatted(
						Table.time(Duration.ofSeconds(comparison.timeline.length)),
						Report.text(results.get(0).policy.limits())));
		for (int i = 0; i < results.size(); i++) {
			picture.row(results.get(i), i + 1, TOP + ROW * i + 14);
		}
		return picture.svg + "</svg>\n";
	}

	private void row(Result result, int count, int top) {
		int bottom = top + 6 + BAR;
		long start = this.periods.firstKey();
		long most = this.periods.values().stream().mapToLong((counts) -> counts[0]).max().orElseThrow();
		double width = WIDTH / ((this.periods.lastKey() - start) / (double) this.length + 1);
		this.periods.forEach((second, counts) -> {
			double x = LEFT + (second - start) / (double) this.length * width;
			bar(x, bottom, width, BAR * (double) counts[0] / most, GREY);
			bar(x, bottom, width, BAR * (double) counts[count] / most, RED);
		});
		text("start", top, result.policy.name() + ": " + Table.number(result.denied) + " denied");
		text("end", top, "at most " + Table.number(most));
		text("start", bottom + 14, Instant.ofEpochSecond(start).toString());
		text("end", bottom + 14, Instant.ofEpochSecond(this.periods.lastKey() + this.length).toString());
	}

	private void bar(double x, int bottom, double width, double height, String colour) {
		if (height > 0) {
			add("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>", x, bottom - height, width,
					height, colour);
		}
	}

	private void text(String anchor, int y, String text) {
		add("<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>", anchor.equals("end") ? LEFT + WIDTH : LEFT, y,
				anchor, text);
	}

	private void add(String format, Object... values) {
		this.svg.append(String.format(Locale.ROOT, format, values)).append('\n');
	}

}
