package io.github.ratelimit.benchmarks;

import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.List;

import io.github.ratelimit.benchmarks.BurstTraffic.Second;

/**
 * Draws the decisions on a burst as an SVG. The upper part shows the requests that were
 * admitted and denied in each second, the lower part those admitted in the last window,
 * with quota and bound. Readable on light and dark backgrounds.
 */
final class BurstSvg {

	private static final int WIDTH = 860;

	private static final int HEIGHT = 330;

	private static final int LEFT = 50;

	/** Width of a second. */
	private static final int STEP = 2;

	private static final int BARS_BASE = 130;

	/** Height of a request in the upper part. */
	private static final int REQUEST = 8;

	private static final int COUNT_BASE = 290;

	/** Height of a request in the lower part. */
	private static final int COUNTED = 3;

	private static final String STYLE = """
			<style>
			text { font: 12px sans-serif; fill: #6e7781 }
			.title { font-size: 15px; font-weight: bold }
			.line { stroke: #8c959f; stroke-width: 1 }
			.edge { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 1 4 }
			.quota { stroke: #1a7f37; stroke-width: 1.5; stroke-dasharray: 6 3 }
			.bound { stroke: #cf222e; stroke-width: 1.5; stroke-dasharray: 6 3 }
			.admitted { fill: #218bff }
			.denied { fill: #d4a72c }
			.count { fill: none; stroke: #218bff; stroke-width: 2 }
			@media (prefers-color-scheme: dark) { text { fill: #adbac7 } }
			</style>
			""";

	private final StringBuilder svg = new StringBuilder();

	private BurstSvg() {
	}

	/**
	 * Draws a picture.
	 * @param algorithm name of the algorithm
	 * @param bound the most that can be admitted in any window
	 * @param seconds the decisions of each second
	 * @return the text of an SVG file
	 */
	static String draw(String algorithm, long bound, List<Second> seconds) {
		BurstSvg picture = new BurstSvg();
		picture.begin(algorithm, seconds);
		picture.axes(seconds.size());
		picture.bars(seconds);
		picture.counts(bound, seconds);
		return picture.svg.append("</svg>\n").toString();
	}

	private void begin(String algorithm, List<Second> seconds) {
		int most = seconds.stream().mapToInt(Second::inLastWindow).max().orElse(0);
		this.svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 %d %d\">\n"
			.formatted(WIDTH, HEIGHT));
		this.svg.append("<title>%s at %s: at most %d admitted in a window</title>\n".formatted(algorithm,
				BurstTraffic.LIMIT, most));
		this.svg.append(STYLE);
		text("title", LEFT, 20, "start", algorithm + " at " + BurstTraffic.LIMIT);
		this.svg.append("<rect class=\"admitted\" x=\"370\" y=\"10\" width=\"10\" height=\"10\"/>\n");
		text("", 385, 20, "start", "admitted");
		this.svg.append("<rect class=\"denied\" x=\"450\" y=\"10\" width=\"10\" height=\"10\"/>\n");
		text("", 465, 20, "start", "denied, requests a second");
	}

	private void axes(int seconds) {
		int right = x(seconds);
		line("line", LEFT, BARS_BASE, right, BARS_BASE);
		line("line", LEFT, COUNT_BASE, right, COUNT_BASE);
		for (int number : new int[] { 0, 5, 10 }) {
			text("", LEFT - 6, BARS_BASE - number * REQUEST + 4, "end", Integer.toString(number));
		}
		for (int number : new int[] { 0, 20, 40 }) {
			text("", LEFT - 6, COUNT_BASE - number * COUNTED + 4, "end", Integer.toString(number));
		}
		text("", LEFT, 158, "start", "admitted in the last minute");
		LocalTime start = LocalTime.ofInstant(BurstTraffic.START, ZoneOffset.UTC);
		for (int second = 0; second <= seconds; second++) {
			LocalTime time = start.plusSeconds(second);
			if (time.getSecond() == 0) {
				line("edge", x(second), 40, x(second), COUNT_BASE + 5);
				text("", x(second), COUNT_BASE + 20, "middle", time.toString());
			}
		}
		text("", right, COUNT_BASE + 35, "end", "time; dotted: edges of aligned windows");
	}

	private void bars(List<Second> seconds) {
		for (int s = 0; s < seconds.size(); s++) {
			Second second = seconds.get(s);
			bar("admitted", s, 0, second.admitted());
			bar("denied", s, second.admitted(), second.denied());
		}
	}

	private void bar(String style, int second, int below, int requests) {
		if (requests > 0) {
			this.svg.append("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n".formatted(style,
					x(second), BARS_BASE - (below + requests) * REQUEST, STEP, requests * REQUEST));
		}
	}

	private void counts(long bound, List<Second> seconds) {
		long quota = BurstTraffic.LIMIT.quota();
		int right = x(seconds.size());
		this.svg.append("<path class=\"count\" d=\"M%d %d".formatted(LEFT, COUNT_BASE));
		for (int s = 0; s < seconds.size(); s++) {
			this.svg.append("V%dH%d".formatted(y(seconds.get(s).inLastWindow()), x(s + 1)));
		}
		this.svg.append("\"/>\n");
		if (bound != quota) {
			line("quota", LEFT, y(quota), right, y(quota));
			text("", right + 6, y(quota) + 4, "start", "quota");
		}
		line("bound", LEFT, y(bound), right, y(bound));
		text("", right + 6, y(bound) + 4, "start", (bound == quota) ? "quota, bound" : "bound");
	}

	private void line(String style, int x1, long y1, int x2, long y2) {
		this.svg
			.append("<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n".formatted(style, x1, y1, x2, y2));
	}

	private void text(String style, int x, long y, String anchor, String text) {
		String attribute = style.isEmpty() ? "" : " class=\"" + style + '"';
		this.svg.append(
				"<text%s x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n".formatted(attribute, x, y, anchor, text));
	}

	private static int x(int second) {
		return LEFT + second * STEP;
	}

	private static long y(long count) {
		return COUNT_BASE - count * COUNTED;
	}

}
