package io.github.ratelimit.spring.redis;

import java.security.NoSuchAlgorithmException;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.DefaultJedisClientConfig;

import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslOptions;

/**
 * Encryption of connections. The host name in the certificate of the server is always
 * verified, which Jedis does not do by default.
 *
 * @param bundle the trusted certificates and the client certificate; {@code null} for the
 * defaults of Java
 */
record RedisSsl(@Nullable SslBundle bundle) {

	void configure(DefaultJedisClientConfig.Builder config) {
		SSLContext context = (this.bundle != null) ? this.bundle.createSslContext() : defaultContext();
		SSLParameters parameters = context.getDefaultSSLParameters();
		if (this.bundle != null) {
			SslOptions options = this.bundle.getOptions();
			if (options.getCiphers() != null) {
				parameters.setCipherSuites(options.getCiphers());
			}
			if (options.getEnabledProtocols() != null) {
				parameters.setProtocols(options.getEnabledProtocols());
			}
		}
		parameters.setEndpointIdentificationAlgorithm("HTTPS");
		config.ssl(true).sslSocketFactory(context.getSocketFactory()).sslParameters(parameters);
	}

	private static SSLContext defaultContext() {
		try {
			return SSLContext.getDefault();
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Encryption of connections to Redis is not possible in this Java runtime",
					ex);
		}
	}

}
