package io.github.ratelimit.spring.web.cors;

import java.io.IOException;
import java.util.List;

import io.github.ratelimit.spring.SecurityFilters;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.security.web.FilterChainProxy;
import org.springframework.security.web.header.HeaderWriterFilter;

/**
 * The filters of the first chain of Spring Security that matches a request.
 */
public record SpringSecurityFilters(ObjectProvider<FilterChainProxy> proxies) implements SecurityFilters {

	@Override
	public List<Filter> find(HttpServletRequest request) {
		return this.proxies.stream()
			.flatMap((proxy) -> proxy.getFilterChains().stream())
			.filter((chain) -> chain.matches(request))
			.findFirst()
			.map((chain) -> List.copyOf(chain.getFilters()))
			.orElse(List.of());
	}

	/** Calls the filters with an empty chain: they write headers when it returns. */
	@Override
	public void writeHeaders(HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		for (Filter filter : find(request)) {
			if (filter instanceof HeaderWriterFilter) {
				filter.doFilter(request, response, (sameRequest, sameResponse) -> {
				});
			}
		}
	}

}
