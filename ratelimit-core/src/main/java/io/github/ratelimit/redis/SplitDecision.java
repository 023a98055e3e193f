package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.ErrorText;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.Answer;
import io.github.ratelimit.redis.script.Answer.Penalized;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The decision on a request. Where its Redis keys are in several slots, several calls
 * decide it, which are sent together. Each call reserves what it allows, and counts
 * nothing else. When all have answered, those whose counts are then not what the decision
 * says are corrected, together: what was reserved is given back, and what is denied is
 * counted where the policy says so. So what is given back was added. If a call fails, the
 * others are cancelled; a call that is answered too late is cancelled then.
 *
 * @param budget how long a correction may take, which may end after the deadline
 */
record SplitDecision(Scripts scripts, Servers servers, RateLimitRequest request, Duration budget, long deadline) {

	Decision peek(List<SlotRequest> slots) {
		return join(ask(Operation.PEEK, slots), List.of());
	}

	void run(Operation operation, List<SlotRequest> slots) {
		requireSuccess(ask(operation, slots));
	}

	/** Reserves what one call can decide. If the answer is late, it is cancelled. */
	Answer reserve(SlotRequest slot) {
		return send(Operation.RESERVE, slot).call.answer();
	}

	Answer acquire(RedisKeys keys) {
		return SlotRequest.isWhole(this.request, this.servers) ? acquireWhole()
				: acquire(SlotRequest.of(this.request, this.servers, keys));
	}

	Answer acquire(List<SlotRequest> slots) {
		return (slots.size() > 1) ? acquireEach(slots) : acquireWhole();
	}

	private Answer acquireWhole() {
		try {
			ScriptCall call = this.scripts.call(Operation.ACQUIRE, Scope.ALL, this.request, this.deadline);
			this.servers.submit(call);
			return call.answer();
		}
		catch (JedisException ex) {
			if (!ErrorText.isOfMovingSlot(ex)) {
				throw ex;
			}
			return acquireEach(new SlotRequest(this.request, Scope.ALL).byKey(true));
		}
	}

	private Answer acquireEach(List<SlotRequest> slots) {
		List<Part> parts = ask(Operation.RESERVE, slots);
		if (parts.stream().anyMatch((part) -> part.failure != null)) {
			parts.forEach((part) -> abandon(part.slot, part.answer));
		}
		Decision decision = join(parts, List.of());
		List<Part> corrections = new ArrayList<>();
		for (Part part : parts) {
			corrections.addAll(correct(part.slot, Objects.requireNonNull(part.answer), decision));
			corrections.addAll(countDenials(part.slot, decision));
		}
		List<Part> later = await(corrections);
		List<Penalized> penalties = Stream.concat(answers(parts), answers(later))
			.flatMap((answer) -> answer.penalties().stream())
			.toList();
		return new Answer(later.isEmpty() ? decision : join(parts, later), 0, penalties);
	}

	private List<Part> countDenials(SlotRequest slot, Decision decision) {
		if (!decision.allowed() || slot.scope() != Scope.ALL) {
			return List.of();
		}
		return slot.request()
			.shadows()
			.stream()
			.filter((charge) -> charge.policy().penalty() != null)
			.flatMap((charge) -> charge.identifiers()
				.stream()
				.filter((identifier) -> isDenied(identifier, decision.shadow(charge)))
				.map((identifier) -> new Charge(charge.policy(), List.of(identifier), 1, true)))
			.map((denial) -> send(Operation.COUNT_DENIALS,
					new SlotRequest(slot.request().withCharges(List.of(denial)), Scope.BLOCKS)))
			.toList();
	}

	private static boolean isDenied(Identifier identifier, Decision decision) {
		return decision.violated()
			.stream()
			.anyMatch((status) -> status.identifier().equals(identifier) && status.retryAfter() != null);
	}

	private List<Part> ask(Operation operation, List<SlotRequest> slots) {
		return await(slots.stream().map((slot) -> send(operation, slot)).toList());
	}

	private Part send(Operation operation, SlotRequest slot) {
		ScriptCall call = this.scripts.call(operation, slot.scope(), slot.request(), this.deadline);
		if (operation == Operation.RESERVE) {
			call.onLateAnswer((answer) -> abandon(slot, answer));
		}
		this.servers.submit(call);
		return new Part(operation, slot, call, (key) -> send(operation, key));
	}

	/** What a node with a moving slot cannot do is done one Redis key at a time. */
	private List<Part> await(List<Part> parts) {
		List<Part> answered = new ArrayList<>();
		List<Part> further = new ArrayList<>();
		for (Part part : parts) {
			part.await(this.deadline);
			if (ErrorText.isOfMovingSlot(part.failure) && part.slot.scope() == Scope.ALL) {
				boolean blocks = part.operation == Operation.RESERVE || part.operation == Operation.PEEK;
				part.slot.byKey(blocks).forEach((key) -> further.add(part.again.apply(key)));
			}
			else {
				answered.add(part);
			}
		}
		// These have one Redis key each, so they are not split again.
		further.forEach((part) -> part.await(this.deadline));
		answered.addAll(further);
		return answered;
	}

	/** Nobody waits, or would see that the slot is moving: one Redis key at a time. */
	private void abandon(SlotRequest slot, @Nullable Answer reserved) {
		if (reserved != null && slot.scope() != Scope.BLOCKS) {
			slot.byKey(false).forEach((key) -> correct(key, reserved, null));
		}
	}

	/** Corrects the counts of what is denied; of all without a decision. */
	private List<Part> correct(SlotRequest slot, Answer reserved, @Nullable Decision decision) {
		Predicate<Charge> isReserved = (charge) -> isAllowed(charge, reserved.decision());
		Predicate<Charge> counts = (charge) -> decision != null && counts(charge, decision);
		List<Charge> denied = slot.request()
			.charges()
			.stream()
			.filter((charge) -> decision == null || !isAllowed(charge, decision))
			.toList();
		if (slot.scope() == Scope.BLOCKS || denied.stream().noneMatch(isReserved.or(counts))) {
			return List.of();
		}
		Map<String, Integer> changes = denied.stream()
			.collect(Collectors.toMap((charge) -> charge.policy().name(),
					(charge) -> (counts.test(charge) ? 1 : 0) - (isReserved.test(charge) ? 1 : 0)));
		return List
			.of(cancel(slot.of(denied.stream().map(SplitDecision::enforced).toList()), changes, reserved.reservedAt()));
	}

	/** May send after the deadline, because otherwise the quota would stay reserved. */
	private Part cancel(SlotRequest slot, Map<String, Integer> changes, long reservedAt) {
		ScriptCall call = this.scripts.cancel(slot.request(), slot.scope(),
				(charge) -> changes.getOrDefault(charge.policy().name(), 0), reservedAt,
				System.nanoTime() + this.budget.toNanos());
		this.servers.submit(call);
		return new Part(Operation.CANCEL, slot, call, (key) -> cancel(key, changes, reservedAt));
	}

	private static Charge enforced(Charge charge) {
		return new Charge(charge.policy(), charge.identifiers(), charge.cost());
	}

	private static boolean isAllowed(Charge charge, Decision decision) {
		return decision.allowed() && (!charge.shadow() || decision.shadow(charge).allowed());
	}

	/** A denied charge in shadow mode counts only if the request is allowed. */
	private static boolean counts(Charge charge, Decision decision) {
		if (charge.shadow()) {
			return decision.allowed() && counts(enforced(charge), decision.shadow(charge));
		}
		return decision.allowed() || (charge.policy().countDenied() && decision.blockedFor() == null
				&& decision.statuses().stream().allMatch((status) -> status.retryAfter() != null));
	}

	private static void requireSuccess(List<Part> parts) {
		for (Part part : parts) {
			if (part.failure != null) {
				throw part.failure;
			}
		}
	}

	/**
	 * @param later what some say after corrections; what failed stays as it was
	 */
	private Decision join(List<Part> parts, List<Part> later) {
		requireSuccess(parts);
		Map<Object, List<LimitStatus>> statuses = new HashMap<>();
		Stream.concat(answers(parts), answers(later)).forEach((answer) -> put(answer.decision(), statuses));
		List<Decision> answers = answers(parts).map(Answer::decision).toList();
		return join(answers, this.request.enforced(), statuses).withShadows(this.request.shadows(), (charge) -> {
			String policy = charge.policy().name();
			return join(answers.stream().flatMap((answer) -> Stream.ofNullable(answer.shadows().get(policy))).toList(),
					List.of(charge), statuses);
		});
	}

	private static Stream<Answer> answers(List<Part> parts) {
		return parts.stream().flatMap((part) -> Stream.ofNullable(part.answer));
	}

	private static Decision join(List<Decision> answers, List<Charge> charges,
			Map<Object, List<LimitStatus>> statuses) {
		List<LimitStatus> ordered = charges.stream()
			.flatMap((charge) -> charge.identifiers().stream().map((each) -> List.of(charge.policy().name(), each)))
			.flatMap((each) -> statuses.getOrDefault(each, List.of()).stream())
			.toList();
		return new Decision(answers.stream().allMatch(Decision::allowed), ordered,
				answers.stream()
					.flatMap((answer) -> Stream.ofNullable(answer.blockedFor()))
					.max(Comparator.naturalOrder())
					.orElse(null));
	}

	private static void put(Decision answer, Map<Object, List<LimitStatus>> statuses) {
		Map<Object, List<LimitStatus>> present = answer.statuses()
			.stream()
			.collect(Collectors.groupingBy((status) -> List.of(status.policy().name(), status.identifier())));
		present.forEach((key, some) -> statuses.merge(key, some, SplitDecision::later));
		answer.shadows().values().forEach((shadow) -> put(shadow, statuses));
	}

	/** What denied the request is known from before it was counted. */
	private static List<LimitStatus> later(List<LimitStatus> first, List<LimitStatus> later) {
		List<LimitStatus> statuses = new ArrayList<>();
		for (int i = 0; i < later.size(); i++) {
			LimitStatus status = later.get(i);
			statuses.add(new LimitStatus(status.policy(), status.identifier(), status.limit(), status.remaining(),
					status.resetAfter(), status.retryAfter(), first.get(i).violated()));
		}
		return statuses;
	}

	private static final class Part {

		private final Operation operation;

		private final SlotRequest slot;

		private final ScriptCall call;

		private final Function<SlotRequest, Part> again;

		private @Nullable Answer answer;

		private @Nullable JedisException failure;

		Part(Operation operation, SlotRequest slot, ScriptCall call, Function<SlotRequest, Part> again) {
			this.operation = operation;
			this.slot = slot;
			this.call = call;
			this.again = again;
		}

		/** Does not give up a cancellation that takes too long. */
		void await(long deadline) {
			try {
				if (this.operation != Operation.CANCEL || this.call.await(deadline)) {
					this.answer = this.call.answer();
				}
			}
			catch (JedisException ex) {
				this.failure = ex;
			}
		}

	}

}
