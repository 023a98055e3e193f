package io.github.ratelimit.spring.web;

import io.github.ratelimit.Identifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AddressResolver}.
 */
class AddressResolverTests {

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
			"unknown, unknown", "_hidden, _hidden" })
	void addressIsThatOfOneClient(String address, String expected) {
		this.request.setRemoteAddr(address);
		assertThat(new AddressResolver().resolve(this.request)).isEqualTo(Identifier.ip(expected));
	}

	@ParameterizedTest
	@ValueSource(strings = { "localhost", "localhost:80" })
	void nameIsNotLookedUp(String name) {
		this.request.setRemoteAddr(name);
		assertThat(new AddressResolver().resolve(this.request)).isEqualTo(Identifier.ip(name));
	}

	@Test
	void thereIsNoIdentifierWhenConnectionHasNoAddress() {
		this.request.setRemoteAddr("");
		assertThat(new AddressResolver().resolve(this.request)).isNull();
	}

	@Test
	void forwardedHeadersDoNotCountByThemselves() {
		this.request.setRemoteAddr("203.0.113.7");
		this.request.addHeader("X-Forwarded-For", "198.51.100.1");
		this.request.addHeader("Forwarded", "for=198.51.100.1");
		assertThat(new AddressResolver().resolve(this.request)).isEqualTo(Identifier.ip("203.0.113.7"));
	}

}
