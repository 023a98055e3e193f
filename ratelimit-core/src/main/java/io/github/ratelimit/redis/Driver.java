package io.github.ratelimit.redis;

import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.ScriptCall.Scope;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Calls {@code driver.lua} where the Redis keys of requests are.
 */
final class Driver {

	/** What a node says to several Redis keys of a slot that is moving. */
	private static final String UNSTABLE = "TRYAGAIN";

	private final Servers servers;

	private final RedisKeys keys;

	private final InstantSource clock;

	/** Whether the clock decides, and not the server's. */
	private final boolean handsInTime;

	private final Map<List<String>, Script> scripts = new ConcurrentHashMap<>();

	Driver(Servers servers, RedisKeys keys, InstantSource clock, boolean handsInTime) {
		this.servers = servers;
		this.keys = keys;
		this.clock = clock;
		this.handsInTime = handsInTime;
	}

	Driver withClock(InstantSource clock) {
		return new Driver(this.servers, this.keys, clock, true);
	}

	/** The time for scripts; empty for the server's. */
	String handedInTime() {
		return this.handsInTime ? Long.toString(now()) : "";
	}

	private long now() {
		return ChronoUnit.MICROS.between(Instant.EPOCH, this.clock.instant());
	}

	/** The parts of a request that lie on one slot each. */
	List<Part> split(RateLimitRequest request) {
		return Part.bySlot(request, (identifier) -> this.servers.slot(this.keys.blocks(identifier)));
	}

	/** Prepares a call. */
	Call call(String operation, Part part) {
		return call(operation, part, part.request().metadata());
	}

	/**
	 * Prepares a call.
	 * @param text metadata, or what the operation wants in its place
	 */
	Call call(String operation, Part part, String text) {
		ScriptCall call = ScriptCall.of(operation, handedInTime(), part.request(), part.scope(), text, this.keys,
				now());
		return script(part.request()).call(call.keys(), call.arguments());
	}

	/** Sends calls, all at once. Each knows afterwards what became of it. */
	void send(List<Call> calls) {
		this.servers.send(calls);
	}

	/**
	 * Does the same for all parts, at once. A part that a node cannot do, because its
	 * slot is moving, is done Redis key by Redis key.
	 */
	List<Answer> send(String operation, List<Part> parts) {
		List<Answer> answers = answers(operation, parts);
		List<Part> moving = new ArrayList<>();
		for (Answer answer : answers) {
			if (isMoving(answer.call()) && answer.part().scope() == Scope.ALL) {
				moving.addAll(answer.part().byKey(operation.equals("hold") || operation.equals("peek")));
			}
		}
		if (moving.isEmpty()) {
			return answers;
		}
		List<Answer> all = new ArrayList<>(answers);
		all.removeIf((answer) -> isMoving(answer.call()));
		all.addAll(answers(operation, moving));
		return all;
	}

	private List<Answer> answers(String operation, List<Part> parts) {
		List<Answer> answers = parts.stream()
			.map((part) -> new Answer(part, call((part.scope() == Scope.BLOCKS) ? "blocked" : operation, part)))
			.toList();
		this.servers.send(answers.stream().map(Answer::call).toList());
		return answers;
	}

	/** Whether nothing was done, because the slot of several Redis keys is moving. */
	static boolean isMoving(Call call) {
		return call.failure() instanceof JedisDataException ex && String.valueOf(ex.getMessage()).startsWith(UNSTABLE);
	}

	private Script script(RateLimitRequest request) {
		Map<String, Algorithm> algorithms = new TreeMap<>();
		for (Charge charge : request.charges()) {
			algorithms.put(charge.policy().algorithm().script(), charge.policy().algorithm());
		}
		return this.scripts.computeIfAbsent(List.copyOf(algorithms.keySet()),
				(parts) -> Script.of(algorithms.values()));
	}

	/** A part of a request, and what became of it. */
	record Answer(Part part, Call call) {

	}

}
