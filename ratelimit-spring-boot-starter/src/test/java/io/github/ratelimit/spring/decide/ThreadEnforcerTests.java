package io.github.ratelimit.spring.decide;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.policy.Mode;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Who is charged for a call outside of a request.
 */
@ExtendWith(OutputCaptureExtension.class)
class ThreadEnforcerTests {

	private final ThreadEnforcer enforcer = new ThreadEnforcer(new Decider(new FailingStore(), List.of(), List::of));

	@AfterEach
	void forgetUser() {
		SecurityContextHolder.clearContext();
		CarriedCaller.exchange(null);
	}

	@Test
	void callWithoutKnownIdentifierIsDeniedAndToldOnce(CapturedOutput output) {
		String reason = "The call, which has no request, has none of the identifiers [ip, user, header:X, #id, ip+#id] that the policy api counts by; set them to global if such calls may share one count";
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(CallerDeniedException.class)
				.isThrownBy(() -> identifiers(Map.of(), "ip", "user", "header:X", "#id", "ip+#id"))
				.withMessage(reason);
		}
		assertThat(output).containsOnlyOnce(reason);
	}

	@Test
	void carriedCallerIsChargedWithUserOfThread() {
		Identifier address = Identifier.ip("203.0.113.7");
		Supplier<? extends CarriedCaller> before = CarriedCaller
			.exchange(() -> (name) -> name.equals("ip") ? address : null);
		try {
			logIn("alice");
			assertThat(identifiers(Map.of("#id", "1"), "ip", "user", "ip+#id", "header:X")).containsExactly(address,
					Identifier.user("alice"), Identifier.combine(List.of(address, new Identifier("#id", "1"))));
			assertThat(identifiers(new MissingIdentifier.Fallback("header:Y"), Map.of(), "header:X"))
				.containsExactly(address);
		}
		finally {
			CarriedCaller.exchange(before);
		}
		assertThat(before).isNull();
	}

	@Test
	void combinationIsChargedWhenAllOfItIsKnown() {
		assertThat(identifiers(Map.of("#id", "7"), "ip", "#id", "ip+#id", "#other"))
			.containsExactly(new Identifier("#id", "7"));
		logIn("alice");
		assertThat(identifiers(Map.of("#a", "1", "#b", "2"), "user+#a", "#a+#b", "user+global", "user+ip"))
			.containsExactly(Identifier.combine(List.of(Identifier.user("alice"), new Identifier("#a", "1"))),
					Identifier.combine(List.of(new Identifier("#a", "1"), new Identifier("#b", "2"))),
					Identifier.combine(List.of(Identifier.user("alice"), Identifier.GLOBAL)));
	}

	@Test
	void nobodyIsUserWhenThreadIsAnonymousOrNotAuthenticated() {
		SecurityContextHolder.getContext()
			.setAuthentication(new AnonymousAuthenticationToken("key", "anonymousUser",
					AuthorityUtils.createAuthorityList("ROLE_ANONYMOUS")));
		assertThat(identifiers(Map.of(), "user", "global")).containsExactly(Identifier.GLOBAL);
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("alice", "secret"));
		assertThat(identifiers(Map.of(), "user", "global")).containsExactly(Identifier.GLOBAL);
	}

	private static void logIn(String name) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken(name, "secret", "USER"));
	}

	@Test
	void callWithoutIdentifiersIsCountedAsItsPolicySays() {
		assertThat(identifiers(MissingIdentifier.SKIP, Map.of(), "ip", "user")).isEmpty();
		assertThat(identifiers(new MissingIdentifier.Fallback("global"), Map.of(), "user"))
			.containsExactly(Identifier.GLOBAL);
		assertThatExceptionOfType(CallerDeniedException.class)
			.isThrownBy(() -> identifiers(MissingIdentifier.DENY, Map.of(), "user"))
			.withMessage("The caller lacks the identifier user, which the policy api requires");
		logIn("alice");
		assertThat(identifiers(new MissingIdentifier.Fallback("user"), Map.of(), "#id"))
			.containsExactly(Identifier.user("alice"));
		assertThat(identifiers(MissingIdentifier.SKIP, Map.of(), "ip", "user"))
			.containsExactly(Identifier.user("alice"));
		assertThat(identifiers(MissingIdentifier.DENY, Map.of(), "user")).containsExactly(Identifier.user("alice"));
		assertThatExceptionOfType(CallerDeniedException.class)
			.isThrownBy(() -> identifiers(MissingIdentifier.DENY, Map.of(), "user", "#id"));
	}

	@ParameterizedTest
	@CsvSource({ "SHADOW, true", "ENFORCE, false" })
	void missingIdentifierIsNotDeniedInShadowOrWhenOff(Mode mode, boolean enabled) {
		for (MissingIdentifier missing : List.of(MissingIdentifier.DENY, MissingIdentifier.ADDRESS)) {
			IdentifiedPolicy policy = policy("user")
				.withEnforcement(new Enforcement(mode, OnStoreFailure.ALLOW, null, missing, enabled, null, List.of()));
			assertThat(this.enforcer.charge(new PolicyUse(policy, 1, Map.of()))).isEmpty();
		}
	}

	/** The user may log in after the caller was carried over. */
	@Test
	@SuppressWarnings("try")
	void threadHasCarriedCallerWithinScopeAlone() {
		ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder()
			.contextRegistry(new ContextRegistry().registerThreadLocalAccessor(new CarriedCaller.Accessor()))
			.build();
		AtomicReference<Identifier> user = new AtomicReference<>(Identifier.user("nobody"));
		CarriedCaller.exchange(() -> {
			Identifier now = user.get();
			return (name) -> now;
		});
		ContextSnapshot before = snapshots.captureAll();
		try (ContextSnapshot.Scope outer = before.setThreadLocals();
				ContextSnapshot.Scope inner = before.setThreadLocals()) {
			user.set(Identifier.user("anna"));
			assertThat(CarriedCaller.current().find("user")).isEqualTo(Identifier.user("nobody"));
		}
		assertThat(CarriedCaller.current().find("user")).isEqualTo(user.get());
		Runnable carried = snapshots.captureAll().wrap(() -> {
			assertThat(identifiers(Map.of(), "user")).containsExactly(user.get());
		});
		carried.run();
		CarriedCaller.exchange(null);
		carried.run();
		assertThat(CarriedCaller.current()).isNull();
	}

	private List<Identifier> identifiers(Map<String, String> values, String... names) {
		return identifiers(MissingIdentifier.ADDRESS, values, names);
	}

	private List<Identifier> identifiers(MissingIdentifier missing, Map<String, String> values, String... names) {
		IdentifiedPolicy policy = policy(names)
			.withEnforcement(new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW, null, missing));
		return this.enforcer.charge(new PolicyUse(policy, 1, values))
			.map((charge) -> charge.charge().identifiers())
			.orElse(List.of());
	}

	private static IdentifiedPolicy policy(String... names) {
		return new IdentifiedPolicy(Policy.of("api", new SlidingLog(), Limit.parse("1/s")), List.of(names));
	}

}
