package io.github.ratelimit.spring.web.address;

import java.util.List;

import io.github.ratelimit.spring.config.ForwardedHeader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link AddressResolver}.
 */
@ExtendWith(OutputCaptureExtension.class)
class AddressResolverTests {

	private static final TrustedProxies PROXIES = new TrustedProxies(List.of("10.0.0.0/8"),
			ForwardedHeader.X_FORWARDED_FOR);

	private final MockHttpServletRequest request = new MockHttpServletRequest();

	@ParameterizedTest
	@CsvSource({ "203.0.113.7, 203.0.113.7", "127.0.0.1, 127.0.0.1", "2001:db8:1:2:3:4:5:6, 2001:db8:1:2::/64",
			"2001:0DB8:0001:0002:0003:0004:0005:0007, 2001:db8:1:2::/64", "2001:db8:1:3::1, 2001:db8:1:3::/64",
			"::1, ::/64", "0:0:0:0:0:0:0:1, ::/64", "fe80::1%eth0, fe80::/64", "fe80::2%2, fe80::/64",
			"::ffff:203.0.113.7, 203.0.113.7", "::ffff:cb00:7107, 203.0.113.7", "not-an-address, not-an-address",
			"unix:/socket, unix:/socket", "[2001:db8:1:2::1], 2001:db8:1:2::/64",
			"[2001:db8:1:2::3]:1, 2001:db8:1:2::/64", "[fe80::1%eth0]:80, fe80::/64",
			"[::ffff:203.0.113.7]:9, 203.0.113.7", "203.0.113.7:5555, 203.0.113.7", "0xcb.0.113.7, 203.0.113.7",
			"0313.0.113.007, 203.0.113.7", "203.0.113.7/24, 203.0.113.7", "203.0.113.*, 203.0.113.*",
			"unknown, unknown", "localhost, localhost", "localhost:80, localhost:80", "'', ",
			"0:0:0:0:0:FFFF:CB00:7107, 203.0.113.7", "0000:0000:0000:0000:0000:ffff:203.0.113.7, 203.0.113.7",
			"::ffff:203.0.113.7%eth0, 203.0.113.7", "64:ff9b::203.0.113.7, 203.0.113.7",
			"0064:FF9B:0:0:0:0:CB00:7107, 203.0.113.7", "::fffe:203.0.113.7, ::/64",
			"64:ff9b:1::203.0.113.7, 64:ff9b:1::/64", "2002:cb00:7107::1, 2002:cb00:7107::/64",
			"::203.0.113.7, ::/64" })
	void addressIsThatOfOneClient(String address, @Nullable String expected) {
		this.request.setRemoteAddr(address);
		assertThat(resolve(64)).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource({ "32, 2001:db8:ff01:2:3:4:5:6, 2001:db8::/32", "48, 2001:db8:ff01:2:3:4:5:6, 2001:db8:ff01::/48",
			"56, 2001:db8:ff01:2ff:3:4:5:6, 2001:db8:ff01:200::/56",
			"127, 2001:db8:ff01:2:3:4:5:7, 2001:db8:ff01:2:3:4:5:6/127",
			"128, 2001:db8:ff01:2:3:4:5:6, 2001:db8:ff01:2:3:4:5:6", "128, fe80::1%eth0, fe80::1",
			"32, 203.0.113.7, 203.0.113.7", "32, ::ffff:203.0.113.7, 203.0.113.7" })
	void networkIsAsLongAsConfigured(int prefix, String address, String expected) {
		this.request.setRemoteAddr(address);
		assertThat(resolve(prefix)).isEqualTo(expected);
	}

	/** What no request is counted by is refused. */
	@ParameterizedTest
	@CsvSource({ "128, 2001:db8::5, 2001:db8::5", "128, 2001:DB8::5/128, 2001:db8::5",
			"48, 2001:db8:0:9::5, 2001:db8::/48", "48, 2001:db8::/48, 2001:db8::/48",
			"127, 2001:db8::5, 2001:db8::4/127", "64, 203.0.113.7, 203.0.113.7", "128, 2001:db8::/64,",
			"48, 2001:db8::/64,", "64, 2001:db8::/48,", "64, ::ffff:0:0/96,", "64, 0.0.0.0/0," })
	void addressIsWrittenAsRequestsAreCounted(int prefix, String address, @Nullable String expected) {
		AddressResolver resolver = new AddressResolver(prefix, null);
		if (expected != null) {
			assertThat(resolver.counted(address)).isEqualTo(expected);
			return;
		}
		assertThatIllegalArgumentException().isThrownBy(() -> resolver.counted(address))
			.withMessageStartingWith("Invalid identifier (ip:%s): must be an address or the /%d network", address,
					prefix);
	}

	/** They do not count by themselves, and anybody can send them. */
	@ParameterizedTest
	@CsvSource({ "172.17.0.1, X-Forwarded-For, false, 1", "172.17.0.1, Forwarded, true, 1",
			"172.17.0.1, X-Other, false, 0", "10.0.0.1, X-Forwarded-For, false, 1",
			"10.0.0.1, X-Forwarded-For, true, 0" })
	void forwardedHeaderThatNoTrustedProxySendsIsLoggedOnce(String address, String header, boolean trusting, int logged,
			CapturedOutput output) {
		AddressResolver resolver = new AddressResolver(64, trusting ? PROXIES : null);
		this.request.setRemoteAddr(address);
		this.request.addHeader(header, "198.51.100.77");
		for (int i = 0; i < 2; i++) {
			assertThat(resolver.resolve(this.request)).isEqualTo((logged == 0 && trusting) ? "198.51.100.77" : address);
		}
		assertThat(output.toString().lines().filter((line) -> line.contains("forwarded headers"))).hasSize(logged)
			.noneMatch((line) -> line.contains("198.51.100.77"));
	}

	private String resolve(int prefix) {
		return new AddressResolver(prefix, null).resolve(this.request);
	}

}
