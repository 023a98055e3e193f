package io.github.ratelimit.redis.script;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Identifier;

/**
 * How a block stands in Redis: its texts with their lengths before them, so that they may
 * hold anything. Unpaired surrogates, which UTF-8 has no form for, stand as
 * {@code %uD83D}, and percent signs as {@code %25}.
 */
final class BlockDescription {

	private static final Pattern UNPAIRED = Pattern.compile("\\p{Cs}");

	private static final Pattern ESCAPED = Pattern.compile("%(?:25|u(D[89A-F][0-9A-F]{2}))?");

	private static final Pattern LENGTH = Pattern.compile("(\\d{1,9}):");

	private BlockDescription() {
	}

	static String of(Identifier identifier, String policy, String reason) {
		StringBuilder description = new StringBuilder();
		for (String text : List.of(identifier.type(), identifier.value(), policy, reason)) {
			String escaped = escape(text);
			description.append(escaped.length()).append(':').append(escaped);
		}
		return description.toString();
	}

	/**
	 * Reads a block.
	 * @return the block; empty if another program wrote the description
	 */
	static Optional<Block> read(String description, Instant until) {
		List<String> texts = new ArrayList<>();
		Matcher length = LENGTH.matcher(description);
		int at = 0;
		while (at < description.length()) {
			if (!length.region(at, description.length()).lookingAt()) {
				return Optional.empty();
			}
			at = length.end() + Integer.parseInt(length.group(1));
			if (at > description.length()) {
				return Optional.empty();
			}
			texts.add(description.substring(length.end(), at));
		}
		try {
			return (texts.size() == 4)
					? Optional.of(block(texts.stream().map(BlockDescription::unescape).toList(), until))
					: Optional.empty();
		}
		catch (IllegalArgumentException ex) {
			return Optional.empty();
		}
	}

	private static Block block(List<String> texts, Instant until) {
		String policy = texts.get(2).isEmpty() ? null : texts.get(2);
		BlockList.requireValid(policy);
		return new Block(new Identifier(texts.get(0), texts.get(1)), policy, until, texts.get(3));
	}

	private static String escape(String text) {
		return UNPAIRED.matcher(text.replace("%", "%25"))
			.replaceAll((unpaired) -> "%%u%04X".formatted((int) unpaired.group().charAt(0)));
	}

	private static String unescape(String text) {
		return ESCAPED.matcher(text).replaceAll((escaped) -> {
			if (escaped.group().length() == 1) {
				throw new IllegalArgumentException("Invalid text (%s): a percent sign must be %%25.".formatted(text));
			}
			return (escaped.group(1) == null) ? "%" : Character.toString((char) Integer.parseInt(escaped.group(1), 16));
		});
	}

}
