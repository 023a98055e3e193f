package io.github.ratelimit.redis.script;

import java.util.List;
import java.util.function.Consumer;

import io.github.ratelimit.LogEntry;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.redis.connection.Call;
import org.jspecify.annotations.Nullable;

/**
 * A request, or what of it is on one slot, on its way to a script.
 */
public final class ScriptCall extends Call {

	private final Script script;

	private final Operation operation;

	private final Scope scope;

	private final RateLimitRequest request;

	final byte[][] keys;

	final byte[] argument;

	private @Nullable Consumer<Answer> late;

	ScriptCall(Script script, Operation operation, Scope scope, RateLimitRequest request, byte[][] keys,
			byte[] argument, int slot, long deadline) {
		super(script, slot, deadline);
		this.script = script;
		this.operation = operation;
		this.scope = scope;
		this.request = request;
		this.keys = keys;
		this.argument = argument;
	}

	@Override
	public int work() {
		return this.script.work;
	}

	/**
	 * Waits for the answer, and reads it.
	 * @throws redis.clients.jedis.exceptions.JedisException if there is none, or it
	 * cannot be read, as the other methods
	 */
	public Answer answer() {
		return Answer.read(this.operation, this.scope, this.request, await());
	}

	/**
	 * Sets who takes an answer that comes when nobody waits for it any more, and must not
	 * wait for anything. To be called before the call is handed over.
	 */
	public void onLateAnswer(Consumer<Answer> late) {
		this.late = late;
	}

	@Override
	protected void answeredLate(@Nullable Object answer) {
		if (this.late != null) {
			this.late.accept(Answer.read(this.operation, this.scope, this.request, answer));
		}
	}

	/** Waits for the requests that were to be read, and reads them, newest first. */
	public List<LogEntry> entries() {
		return ListReply.entries(await());
	}

	/**
	 * Waits for the counts that were to be read, and reads them, by limit, and from the
	 * newest to the oldest.
	 */
	public List<WindowCount> series() {
		return ListReply.series(this.request.charges().get(0).policy().limits(), await());
	}

}
