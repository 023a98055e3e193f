package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.Carrier;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.Answer;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A request that several calls decide, which are sent together. Each holds what it
 * allows; if one of them denies the request, or fails, the others are cancelled. One that
 * is answered when nobody waits for it any more is cancelled then.
 */
final class SplitDecision {

	private final Scripts scripts;

	private final Servers servers;

	private final RateLimitRequest request;

	private final Duration budget;

	private final long deadline;

	SplitDecision(Scripts scripts, Servers servers, RateLimitRequest request, Duration budget, long deadline) {
		this.scripts = scripts;
		this.servers = servers;
		this.request = request;
		this.budget = budget;
		this.deadline = deadline;
	}

	/** Decides, and uses nothing. */
	Decision peek(List<SlotRequest> slots) {
		return join(ask(Operation.PEEK, slots), List.of());
	}

	/** Does the same everywhere, and expects no answer. */
	void run(Operation operation, List<SlotRequest> slots) {
		failure(ask(operation, slots));
	}

	/** Decides, all or nothing. */
	Decision acquire(List<SlotRequest> slots) {
		List<Part> parts = ask(Operation.HOLD, slots);
		if (parts.stream().allMatch(Part::isAllowed)) {
			return join(parts, List.of());
		}
		if (parts.stream().anyMatch((part) -> part.failure != null)) {
			parts.forEach((part) -> abandon(part.slot, part.answer));
			failure(parts);
		}
		boolean denialCounts = parts.stream().allMatch(Part::countsDenial);
		List<Part> cancelled = new ArrayList<>();
		for (Part part : parts) {
			cancelled.addAll(cancel(part.slot, part.answer, denialCounts));
		}
		return join(parts, await(Operation.CANCEL, cancelled));
	}

	private List<Part> ask(Operation operation, List<SlotRequest> slots) {
		return await(operation, slots.stream().map((slot) -> send(operation, slot)).toList());
	}

	private Part send(Operation operation, SlotRequest slot) {
		ScriptCall call = this.scripts.call(operation, slot.scope(), slot.request(), this.deadline);
		Part part = new Part(slot, call);
		if (operation == Operation.HOLD) {
			call.onLateAnswer((answer) -> abandon(slot, answer));
		}
		this.servers.submit(call);
		return part;
	}

	/**
	 * Waits for answers. What a node cannot do, because the slot is moving, is done Redis
	 * key by Redis key.
	 */
	private List<Part> await(Operation operation, List<Part> parts) {
		List<Part> answered = new ArrayList<>();
		List<Part> further = new ArrayList<>();
		for (Part part : parts) {
			part.await(operation, this.deadline);
			if (!Carrier.isMoving(part.failure) || part.slot.scope() != Scope.ALL) {
				answered.add(part);
			}
			else if (operation == Operation.CANCEL) {
				part.slot.byKey(false).forEach((key) -> further.addAll(cancel(key, part.held, part.denialCounts)));
			}
			else {
				part.slot.byKey(operation == Operation.HOLD || operation == Operation.PEEK)
					.forEach((key) -> further.add(send(operation, key)));
			}
		}
		if (!further.isEmpty()) {
			answered.addAll(await(operation, further));
		}
		return answered;
	}

	/**
	 * Gives back what was held, and waits for nothing. Redis key by Redis key, because
	 * nobody would learn that the slot is moving.
	 */
	private void abandon(SlotRequest slot, @Nullable Answer held) {
		if (held != null && slot.scope() != Scope.BLOCKS) {
			slot.byKey(false).forEach((key) -> cancel(key, held, false));
		}
	}

	/**
	 * Gives back what was held, and does not stay counted because of the denial. It may
	 * be sent when the time of the decision is over, or quota would stay held.
	 * @param denialCounts whether policies that count denied requests count this
	 * @return a call that was sent, or none if there is nothing to give back
	 */
	private List<Part> cancel(SlotRequest slot, @Nullable Answer held, boolean denialCounts) {
		if (held == null || slot.scope() == Scope.BLOCKS
				|| slot.request().charges().stream().allMatch((charge) -> stays(charge, held, denialCounts))) {
			return List.of();
		}
		ScriptCall call = this.scripts.cancel(slot.request(), slot.scope(),
				(charge) -> stays(charge, held, denialCounts), held.heldAt(),
				System.nanoTime() + this.budget.toNanos());
		Part part = new Part(slot, call);
		part.held = held;
		part.denialCounts = denialCounts;
		this.servers.submit(call);
		return List.of(part);
	}

	private static boolean stays(Charge charge, Answer held, boolean denialCounts) {
		boolean counted = held.allowed() || (charge.policy().countDenied() && countsDenial(held));
		return !counted || (charge.policy().countDenied() && denialCounts);
	}

	/**
	 * Whether policies that count denied requests count this, as far as is known here.
	 */
	private static boolean countsDenial(Answer answer) {
		return answer.blockedMicros() == 0
				&& answer.statuses().stream().allMatch((status) -> status.retryAfter() != null);
	}

	/** Throws the first failure, if there is one. */
	private static void failure(List<Part> parts) {
		for (Part part : parts) {
			if (part.failure != null) {
				throw part.failure;
			}
		}
	}

	/**
	 * Puts a decision together.
	 * @param later how some of the parts stand by now; those that failed hold quota until
	 * the window ends
	 */
	private Decision join(List<Part> parts, List<Part> later) {
		failure(parts);
		Map<List<Object>, List<LimitStatus>> statuses = new HashMap<>();
		boolean allowed = true;
		long blocked = 0;
		for (Part part : parts) {
			Answer answer = Objects.requireNonNull(part.answer);
			allowed = allowed && answer.allowed();
			blocked = Math.max(blocked, answer.blockedMicros());
			put(answer, statuses);
		}
		for (Part part : later) {
			if (part.answer != null) {
				put(part.answer, statuses);
			}
		}
		List<LimitStatus> ordered = new ArrayList<>();
		for (Charge charge : this.request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				ordered.addAll(statuses.getOrDefault(List.of(charge.policy().name(), identifier), List.of()));
			}
		}
		return new Decision(allowed, ordered, (blocked > 0) ? Duration.of(blocked, ChronoUnit.MICROS) : null);
	}

	private static void put(Answer answer, Map<List<Object>, List<LimitStatus>> statuses) {
		Map<List<Object>, List<LimitStatus>> present = new HashMap<>();
		for (LimitStatus status : answer.statuses()) {
			present.computeIfAbsent(List.of(status.policy().name(), status.identifier()), (key) -> new ArrayList<>())
				.add(status);
		}
		statuses.putAll(present);
	}

	/** One call, and what became of it. */
	private static final class Part {

		private final SlotRequest slot;

		private final ScriptCall call;

		private @Nullable Answer answer;

		private @Nullable JedisException failure;

		/** Of a call that cancels: what was held, and whether a denial counts. */
		private @Nullable Answer held;

		private boolean denialCounts;

		Part(SlotRequest slot, ScriptCall call) {
			this.slot = slot;
			this.call = call;
		}

		/** A call that cancels goes on without this if it takes too long. */
		void await(Operation operation, long deadline) {
			try {
				if (operation != Operation.CANCEL || this.call.await(deadline)) {
					this.answer = this.call.answer();
				}
			}
			catch (JedisException ex) {
				this.failure = ex;
			}
		}

		boolean isAllowed() {
			return this.answer != null && this.answer.allowed();
		}

		boolean countsDenial() {
			return this.answer != null && SplitDecision.countsDenial(this.answer);
		}

	}

}
