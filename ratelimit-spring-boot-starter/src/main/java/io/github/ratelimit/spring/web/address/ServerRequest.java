package io.github.ratelimit.spring.web.address;

import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import org.eclipse.jetty.ee11.servlet.ServletApiRequest;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Returns data of requests as the server has received them, without the changes of
 * filters.
 */
final class ServerRequest {

	private static final boolean JETTY = ClassUtils.isPresent("org.eclipse.jetty.ee11.servlet.ServletApiRequest",
			ServerRequest.class.getClassLoader());

	/** Where Tomcat keeps the address of a header for the access log. */
	private static final String LOGGED_ADDRESS = "org.apache.catalina.AccessLog.RemoteAddr";

	private ServerRequest() {
	}

	/** Returns the request that filters have wrapped. */
	static HttpServletRequest of(HttpServletRequest request) {
		ServletRequest innermost = request;
		while (innermost instanceof ServletRequestWrapper wrapper) {
			innermost = wrapper.getRequest();
		}
		return (innermost instanceof HttpServletRequest server) ? server : request;
	}

	/**
	 * Returns the address of the connection, whatever headers say.
	 * @return the address; Tomcat may have replaced it by that of a header
	 */
	static @Nullable String connection(HttpServletRequest request) {
		HttpServletRequest server = of(request);
		String text = JETTY ? Jetty.connection(server) : null;
		return (text != null) ? text : server.getRemoteAddr();
	}

	/** Returns whether a valve or a filter of Tomcat reads addresses from headers. */
	static boolean isReadByTomcat(HttpServletRequest server) {
		return server.getAttribute(LOGGED_ADDRESS) != null;
	}

	/** A separate class, because Jetty is optional. */
	private static final class Jetty {

		private Jetty() {
		}

		static @Nullable String connection(HttpServletRequest request) {
			return (request instanceof ServletApiRequest jetty)
					? Request.getRemoteAddr(Request.unWrap(jetty.getRequest())) : null;
		}

	}

}
