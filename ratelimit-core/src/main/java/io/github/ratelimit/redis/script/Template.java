package io.github.ratelimit.redis.script;

import java.util.List;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.redis.script.Node.Block;
import io.github.ratelimit.redis.script.Node.Line;

/**
 * Makes Lua of the nodes of a fragment, for the limits of one policy.
 */
final class Template {

	/** What words of a fragment mean. */
	interface Words {

		/**
		 * Returns what stands for a word.
		 * @param word the word
		 * @param limit the limit that it is about, from 1 on; 0 if it is about none
		 * @param line where it stands in the file
		 */
		String of(String word, int limit, int line);

		/**
		 * Returns whether a constant is something else than 0.
		 */
		boolean isSet(String constant, int limit, int line);

	}

	/** Strings, comments, numbers, and words with what they are a field of. */
	private static final Pattern TOKEN = Pattern
		.compile("'(?:[^'\\\\]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\"|--.*|(?<![\\w.])\\.?\\d[\\w.]*"
				+ "|\\b(?:string|math|table|struct|redis)\\.\\w+|(?<!(?<!\\.)\\.)\\b[A-Za-z_]\\w*");

	private static final Pattern EACH_IN_TEXT = Pattern.compile("each\\(([^()]*)\\)");

	private final int limits;

	private final Words words;

	Template(int limits, Words words) {
		this.limits = limits;
		this.words = words;
	}

	/**
	 * Makes Lua.
	 * @param limit the limit that all of it is about, from 1 on; 0 if it is about all
	 */
	void write(List<Node> nodes, int limit, StringBuilder lua) {
		for (Node node : nodes) {
			if (node instanceof Line line) {
				lua.append(line(line.text(), limit, line.number())).append('\n');
			}
			else if (node instanceof Block block) {
				write(block, limit, lua);
			}
		}
	}

	private void write(Block block, int limit, StringBuilder lua) {
		switch (block.kind()) {
			case "each limit" -> {
				for (int i = 1; i <= this.limits; i++) {
					lua.append("do\n");
					write(block.chosen(true), i, lua);
					lua.append("end\n");
				}
			}
			case "last limit" -> write(block.chosen(true), this.limits, lua);
			default -> write(block.chosen(this.words.isSet(block.constant(), limit, block.number())), limit, lua);
		}
	}

	private String line(String text, int limit, int number) {
		StringBuilder lua = new StringBuilder();
		Matcher token = TOKEN.matcher(text);
		int at = 0;
		while (token.find(at)) {
			lua.append(text, at, token.start());
			String word = token.group();
			at = token.end();
			char first = word.charAt(0);
			if (first == '\'' || first == '"') {
				lua.append(text(word));
			}
			else if (word.equals("each") && text.startsWith("(", at)) {
				int end = closing(text, at);
				lua.append(each(text.substring(at + 1, end), number));
				at = end + 1;
			}
			else if (!word.startsWith("--")) {
				lua.append((Character.isDigit(first) || first == '.') ? word : this.words.of(word, limit, number));
			}
		}
		return lua.append(text, at, text.length()).toString();
	}

	private String text(String text) {
		return EACH_IN_TEXT.matcher(text)
			.replaceAll((each) -> Matcher.quoteReplacement(each.group(1).repeat(this.limits)));
	}

	private String each(String text, int number) {
		StringJoiner each = new StringJoiner(", ");
		for (int i = 1; i <= this.limits; i++) {
			each.add(line(text, i, number));
		}
		return each.toString();
	}

	/** Where the bracket is closed that opens there. */
	private static int closing(String text, int at) {
		int open = 0;
		for (int i = at; i < text.length(); i++) {
			open += switch (text.charAt(i)) {
				case '(' -> 1;
				case ')' -> -1;
				default -> 0;
			};
			if (open == 0) {
				return i;
			}
		}
		return text.length() - 1;
	}

}
