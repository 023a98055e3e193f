package io.github.ratelimit.spring.web;

import java.util.Optional;

import jakarta.servlet.http.HttpServletRequest;

/**
 * What Spring Security makes of CORS preflight requests.
 */
@FunctionalInterface
public interface SecurityPreflights {

	/**
	 * Returns whether CORS code answers a preflight request before it is looked at for
	 * credentials.
	 * @param request the preflight request
	 * @return whether it does; empty if Spring Security does not filter the request
	 */
	Optional<Boolean> areAnsweredFirst(HttpServletRequest request);

}
