package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A page of an origin that fetches from another one, with what the Fetch standard lets it
 * see of the response.
 *
 * @param application where it fetches from
 * @param origin the origin of the page
 * @param credentials whether it sends credentials along
 */
record Browser(TestApplication application, String origin, boolean credentials) {

	/** CORS-safelisted response-header names. */
	private static final Set<String> SAFELISTED = Set.of("cache-control", "content-language", "content-length",
			"content-type", "expires", "last-modified", "pragma");

	Browser(TestApplication application) {
		this(application, "https://page.example", false);
	}

	/** What the page sees; throws if the browser hides the response. */
	Seen fetch(String path, String... headers) {
		return tryFetch(path, headers).orElseThrow(() -> new AssertionError("Network error: " + path));
	}

	/** What the page sees; empty for a network error. */
	Optional<Seen> tryFetch(String path, String... headers) {
		List<String> all = new ArrayList<>(List.of(headers));
		all.addAll(List.of("Origin", this.origin));
		HttpResponse<String> response = this.application.get(path, all.toArray(String[]::new));
		return passesCorsCheck(response) ? Optional.of(new Seen(response, exposed(response))) : Optional.empty();
	}

	/** Section 4.9, "CORS check". Several values are combined into one. */
	private boolean passesCorsCheck(HttpResponse<?> response) {
		String origin = combined(response, "Access-Control-Allow-Origin");
		if (!this.credentials && origin.equals("*")) {
			return true;
		}
		return origin.equals(this.origin)
				&& (!this.credentials || combined(response, "Access-Control-Allow-Credentials").equals("true"));
	}

	/** Section 4.1, "main fetch", step about CORS-exposed header-name list. */
	private Set<String> exposed(HttpResponse<?> response) {
		List<String> names = Arrays.stream(combined(response, "Access-Control-Expose-Headers").split(","))
			.map((name) -> name.strip().toLowerCase(Locale.ROOT))
			.toList();
		return (!this.credentials && names.contains("*")) ? response.headers().map().keySet() : Set.copyOf(names);
	}

	private static String combined(HttpResponse<?> response, String name) {
		return String.join(", ", response.headers().allValues(name));
	}

	/**
	 * A CORS filtered response.
	 *
	 * @param response what came over the wire
	 * @param exposed names of headers beyond the safelisted ones
	 */
	record Seen(HttpResponse<String> response, Set<String> exposed) {

		int status() {
			return this.response.statusCode();
		}

		/** Names of the headers that the page can read. */
		List<String> headers() {
			Stream<String> names = this.response.headers().map().keySet().stream();
			return names.map((name) -> name.toLowerCase(Locale.ROOT))
				.filter((name) -> SAFELISTED.contains(name) || this.exposed.contains(name))
				.filter((name) -> !name.equals("set-cookie"))
				.toList();
		}

	}

}
