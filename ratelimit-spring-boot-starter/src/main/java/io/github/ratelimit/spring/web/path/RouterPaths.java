package io.github.ratelimit.spring.web.path;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

import org.springframework.core.io.Resource;
import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RequestPredicate;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;

/**
 * Collects the path patterns of router functions. Where a function may serve other paths
 * as well, the pattern matches all of them.
 */
@SuppressWarnings("overloads")
final class RouterPaths implements RouterFunctions.Visitor, RequestPredicates.Visitor {

	private static final String ANY = "/**";

	private final Set<String> patterns = new TreeSet<>();

	/** The paths of the functions around the present one. */
	private final Deque<String> nests = new ArrayDeque<>();

	/** The paths that the present predicate demands. */
	private final List<String> paths = new ArrayList<>();

	private boolean vague;

	private RouterPaths() {
	}

	static Set<String> of(RouterFunction<?> function) {
		RouterPaths paths = new RouterPaths();
		function.accept(paths);
		return paths.patterns;
	}

	private String path(RequestPredicate predicate, String any) {
		this.paths.clear();
		this.vague = false;
		predicate.accept(this);
		return this.vague ? ANY : this.paths.isEmpty() ? any : this.paths.get(0);
	}

	private void add(String path) {
		this.patterns.add(String.join("", this.nests) + path);
	}

	@Override
	public void startNested(RequestPredicate predicate) {
		this.nests.addLast(path(predicate, ""));
	}

	@Override
	public void endNested(RequestPredicate predicate) {
		this.nests.removeLast();
	}

	@Override
	public void route(RequestPredicate predicate, HandlerFunction<?> handlerFunction) {
		add(path(predicate, ANY));
	}

	@Override
	public void resources(Function<ServerRequest, Optional<Resource>> lookupFunction) {
		add(ANY);
	}

	@Override
	public void attributes(Map<String, Object> attributes) {
	}

	@Override
	public void unknown(RouterFunction<?> routerFunction) {
		add(ANY);
	}

	@Override
	public void path(String pattern) {
		this.paths.add(pattern);
	}

	@Override
	public void startOr() {
		this.vague = true;
	}

	@Override
	public void startNegate() {
		this.vague = true;
	}

	@Override
	public void unknown(RequestPredicate predicate) {
		this.vague = this.vague || this.paths.isEmpty();
	}

	@Override
	public void method(Set<HttpMethod> methods) {
	}

	@Override
	@SuppressWarnings({ "deprecation", "removal" })
	public void pathExtension(String extension) {
	}

	@Override
	public void header(String name, String value) {
	}

	@Override
	public void param(String name, String value) {
	}

	@Override
	public void version(String version) {
	}

	@Override
	public void startAnd() {
	}

	@Override
	public void and() {
	}

	@Override
	public void endAnd() {
	}

	@Override
	public void or() {
	}

	@Override
	public void endOr() {
	}

	@Override
	public void endNegate() {
	}

}
