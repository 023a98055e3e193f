package io.github.ratelimit.redis.script;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Composes the script of a shape out of the fragments of its algorithms.
 */
final class Composer {

	private static final Pattern METADATA = Pattern.compile("\\bmetadata\\b");

	private static final Pattern PLACE = Pattern.compile("\\bk_ \\+ (\\d+)");

	private final Shape shape;

	private final Names names;

	private final Set<String> libraries = new TreeSet<>();

	private final Functions functions;

	private final RequestWriter request;

	private final StringBuilder lua = new StringBuilder();

	private Composer(Shape shape) {
		List<Fragment> fragments = shape.policies()
			.stream()
			.map((policy) -> Fragment.read(policy.neighbour(), policy.fragment()))
			.toList();
		this.shape = shape;
		this.names = new Names(shape, fragments);
		this.functions = new Functions(shape, fragments, this.names, this.libraries);
		this.request = new RequestWriter(shape, fragments, this.names, this.functions, this.libraries);
	}

	/**
	 * Composes a script.
	 * @throws IllegalArgumentException if a fragment is not of the form
	 */
	static Source compose(Shape shape) {
		return new Composer(shape).compose();
	}

	/**
	 * A script.
	 *
	 * @param metadata whether each request has its metadata as a second argument
	 */
	record Source(String lua, boolean metadata) {

	}

	private Source compose() {
		String body = this.request.write();
		boolean metadata = METADATA.matcher(body).find();
		int stride = metadata ? 2 : 1;
		if (!this.names.isFlat()) {
			// A request alone needs no functions, which cost as much as the decision.
			line("if #arguments == " + stride + " then");
			line("local a_, metadata = arguments[1], arguments[2]");
			locals();
			this.lua.append(PLACE.matcher(body).replaceAll("$1").replaceFirst("\\nreturn (.*)\n$", "\nreturn {$1}\n"));
			line("end");
		}
		line("local function decide(k_, a_, metadata)");
		locals();
		this.lua.append(body);
		line("end");
		foot(stride);
		String decisions = this.functions.before(this.lua.toString());
		this.lua.setLength(0);
		head(stride);
		return new Source(this.lua + decisions, metadata);
	}

	private void locals() {
		if (this.names.isFlat()) {
			line("local x_, out_ = {}, {}");
		}
		else if (!this.names.locals().isEmpty()) {
			line("local " + String.join(", ", this.names.locals()));
		}
	}

	/** What is done once for all requests. */
	private void head(int stride) {
		this.libraries.addAll(Set.of("redis.call", "struct.unpack", "struct.pack", "math.ceil"));
		line("-- Each request has %d Redis keys and %d arguments: numbers and names, metadata."
			.formatted(this.shape.keys(), stride));
		line("local keys, arguments = KEYS, ARGV");
		this.libraries.forEach((name) -> line("local %s = %s".formatted(name.replace('.', '_'), name)));
		if (!this.shape.handsInTime()) {
			line("local time = redis_call('TIME')");
			line("local now = time[1] * 1000000 + time[2]");
		}
		line("local several, written, values = #arguments > %d, {}, {}".formatted(stride));
		if (this.request.unread().isEmpty()) {
			line("values = redis_call('MGET', unpack(keys))");
		}
		else if (firstRead() <= this.shape.keys()) {
			line("for k = 1, #keys do values[k] = keys[k] end");
			line("for k = 0, #keys - 1, %d do".formatted(this.shape.keys()));
			for (int[] range : this.request.unread()) {
				line("for j = %d, %d do values[k + j] = keys[k + %d] end".formatted(range[0], range[1], firstRead()));
			}
			line("end");
			line("values = redis_call('MGET', unpack(values))");
		}
	}

	/** The first Redis key of a request that is read here. */
	private int firstRead() {
		int first = 1;
		for (int[] range : this.request.unread()) {
			first = (range[0] <= first) ? range[1] + 1 : first;
		}
		return first;
	}

	/** Decides one request after the other. What fails in one is its own. */
	private void foot(int stride) {
		line("""
				local replies = {}
				for r = 1, #arguments / %1$d do
				local done, reply = pcall(decide, (r - 1) * %2$d, %3$s)
				if not done then reply = tostring(type(reply) == 'table' and reply.err or reply) end
				replies[r] = reply
				end
				return replies""".formatted(stride, this.shape.keys(),
				(stride > 1) ? "arguments[2 * r - 1], arguments[2 * r]" : "arguments[r]"));
	}

	private void line(String text) {
		this.lua.append(text).append('\n');
	}

}
