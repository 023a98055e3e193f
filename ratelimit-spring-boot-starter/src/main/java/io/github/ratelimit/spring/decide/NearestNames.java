package io.github.ratelimit.spring.decide;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Suggests known names for an unknown one: those that differ from it in the fewest
 * letters, ignoring case and hyphens.
 */
public final class NearestNames {

	/** Most letters that may differ; short names may differ in fewer. */
	private static final int MOST = 3;

	private static final int SHORT = 4;

	private NearestNames() {
	}

	/** Returns the known names that an unknown one is most similar to; may be empty. */
	public static List<String> find(String unknown, Collection<String> known) {
		String plain = plain(unknown);
		int least = (plain.length() <= SHORT) ? 1 : Math.min(MOST, plain.length() / 2);
		List<String> nearest = new ArrayList<>();
		for (String name : known) {
			int distance = distance(plain, plain(name));
			if (distance < least) {
				nearest.clear();
				least = distance;
			}
			if (distance == least && distance < plain.length()) {
				nearest.add(name);
			}
		}
		return nearest;
	}

	/**
	 * Returns a question with a leading blank, to append to a message about an unknown
	 * name; empty if no known name is similar.
	 */
	public static String question(String unknown, Collection<String> known) {
		List<String> nearest = find(unknown, known);
		return nearest.isEmpty() ? "" : " " + question(nearest);
	}

	public static String question(List<String> names) {
		return names.stream().map((name) -> "'" + name + "'").collect(Collectors.joining(" or ", "Did you mean ", "?"));
	}

	private static String plain(String name) {
		return name.toLowerCase(Locale.ROOT).replaceAll("[-_]", "");
	}

	/**
	 * Returns how many letters of two names are wrong, missing, added, or swapped with
	 * the next, ignoring case.
	 */
	public static int distance(String left, String right) {
		String a = left.toLowerCase(Locale.ROOT);
		String b = right.toLowerCase(Locale.ROOT);
		int[][] distances = new int[a.length() + 1][b.length() + 1];
		for (int i = 0; i <= a.length(); i++) {
			for (int j = 0; j <= b.length(); j++) {
				if (i == 0 || j == 0) {
					distances[i][j] = i + j;
					continue;
				}
				int wrong = (a.charAt(i - 1) == b.charAt(j - 1)) ? 0 : 1;
				int least = Math.min(distances[i - 1][j - 1] + wrong,
						1 + Math.min(distances[i - 1][j], distances[i][j - 1]));
				boolean exchanged = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2)
						&& a.charAt(i - 2) == b.charAt(j - 1);
				distances[i][j] = exchanged ? Math.min(least, 1 + distances[i - 2][j - 2]) : least;
			}
		}
		return distances[a.length()][b.length()];
	}

}
