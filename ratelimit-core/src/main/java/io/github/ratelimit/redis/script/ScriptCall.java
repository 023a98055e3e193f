package io.github.ratelimit.redis.script;

import java.util.List;

import io.github.ratelimit.LogEntry;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.redis.connection.Call;

/**
 * A request, or what of it is on one slot, on its way to a script.
 */
public final class ScriptCall extends Call {

	private final Script script;

	private final Operation operation;

	private final Scope scope;

	private final RateLimitRequest request;

	private final byte[][] keys;

	private final byte[] numbers;

	private final byte[] metadata;

	ScriptCall(Script script, Operation operation, Scope scope, RateLimitRequest request, byte[][] keys, byte[] numbers,
			byte[] metadata, int slot, long deadline) {
		super(script, slot, deadline);
		this.script = script;
		this.operation = operation;
		this.scope = scope;
		this.request = request;
		this.keys = keys;
		this.numbers = numbers;
		this.metadata = metadata;
	}

	@Override
	public int work() {
		return this.script.work();
	}

	/**
	 * Returns the request.
	 * @return what was given to {@link Scripts}
	 */
	public RateLimitRequest request() {
		return this.request;
	}

	/**
	 * Returns what of the request this has the Redis keys of.
	 * @return the scope
	 */
	public Scope scope() {
		return this.scope;
	}

	byte[][] keys() {
		return this.keys;
	}

	byte[] numbers() {
		return this.numbers;
	}

	byte[] metadata() {
		return this.metadata;
	}

	/**
	 * Waits for the answer, and reads it.
	 * @return the answer
	 * @throws redis.clients.jedis.exceptions.JedisException if there is none, or it
	 * cannot be read
	 */
	public Answer answer() {
		return Answer.read(this.operation, this.scope, this.request, await());
	}

	/**
	 * Waits for the requests that were to be read, and reads them.
	 * @return the requests, newest first
	 * @throws redis.clients.jedis.exceptions.JedisException as {@link #answer()}
	 */
	public List<LogEntry> entries() {
		return ListReply.entries(await());
	}

	/**
	 * Waits for the counts that were to be read, and reads them.
	 * @return the counts, by limit, and from the newest to the oldest
	 * @throws redis.clients.jedis.exceptions.JedisException as {@link #answer()}
	 */
	public List<WindowCount> series() {
		return ListReply.series(this.request.charges().get(0).policy().limits(), await());
	}

}
