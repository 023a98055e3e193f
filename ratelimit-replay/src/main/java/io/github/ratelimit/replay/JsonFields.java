package io.github.ratelimit.replay;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a line in JSON, as nginx, Caddy, Traefik, Tomcat and Elastic name them,
 * or as told.
 */
record JsonFields(JsonObject object, Map<String, String> names) {

	private static final Map<String, String> KNOWN = Map.of("time",
			"time timestamp @timestamp ts time_iso8601 time_local msec StartUTC", "ip",
			"ip client_ip request.client_ip request.remote_ip remote_ip remote_addr remoteAddr clientip ClientHost client.ip source.ip host",
			"user", "user remote_user user_id username ClientUsername user.name", "method",
			"method request_method request.method RequestMethod verb http.request.method", "path",
			"path uri request_uri request.uri RequestPath url url.original url.path", "request", "request");

	/**
	 * Parses {@code NAME=FIELD}, by which a field is named that is not found by itself.
	 * @throws IllegalArgumentException if it has another form, or the name is unknown
	 */
	static Map<String, String> names(List<String> options) {
		Map<String, String> names = new HashMap<>();
		for (String option : options) {
			if (!option.matches("(time|ip|user|method|path|request|header:[^=]+)=.+")) {
				throw new IllegalArgumentException("Invalid field (" + option
						+ "): must be NAME=FIELD, where NAME is time, ip, user, method, path, request or header:NAME.");
			}
			names.put(option.substring(0, option.indexOf('=')), option.substring(option.indexOf('=') + 1));
		}
		return names;
	}

	/**
	 * @throws IllegalArgumentException if the line is not an object in JSON
	 */
	static JsonFields parse(String line, Map<String, String> names) {
		try {
			return new JsonFields(JsonParser.parseString(line).getAsJsonObject(), names);
		}
		catch (JsonParseException ex) {
			throw new IllegalArgumentException("the JSON is wrong or incomplete", ex);
		}
	}

	/**
	 * Returns the first of the possible fields with a value; {@code null} if none has.
	 */
	@Nullable String find(String name) {
		String header = name.replaceFirst("header:", "");
		String known = KNOWN.getOrDefault(name, "http_" + header.toLowerCase(Locale.ROOT).replace('-', '_')
				+ " request.headers.%1$s headers.%1$s requestHeaders.%1$s request_%1$s".formatted(header));
		String told = this.names.get(name);
		return ((told != null) ? List.of(told) : List.of(known.split(" "))).stream()
			.map((path) -> text(value(this.object, path)))
			.filter((value) -> value != null && !value.isEmpty() && !value.equals("-"))
			.findFirst()
			.orElse(null);
	}

	/** A name with dots is that of a field, or a path through objects. */
	private static @Nullable JsonElement value(JsonObject object, String path) {
		JsonElement value = object.get(path);
		int dot = path.indexOf('.');
		return (value == null && dot > 0 && object.get(path.substring(0, dot)) instanceof JsonObject inner)
				? value(inner, path.substring(dot + 1)) : value;
	}

	private static @Nullable String text(@Nullable JsonElement value) {
		if (value != null && value.isJsonArray() && !value.getAsJsonArray().isEmpty()) {
			return text(value.getAsJsonArray().get(0));
		}
		return (value != null && value.isJsonPrimitive()) ? value.getAsString() : null;
	}

}
