package io.github.ratelimit.spring.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A certificate that signs itself, made by the tool of the JDK.
 *
 * @param store the certificate and its key for Java
 * @param certificate the certificate for OpenSSL
 * @param key its key for OpenSSL
 */
public record TestCertificate(Path store, Path certificate, Path key) {

	static final String PASSWORD = "password";

	private static final String ALIAS = "test";

	/** Makes a certificate in a folder of its own. */
	public static TestCertificate of(String host, Path folder) throws IOException, InterruptedException {
		Path store = folder.resolve(host + ".p12");
		Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-genkeypair", "-alias", ALIAS, "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=test", "-ext",
				"san=dns:" + host, "-validity", "36500", "-storetype", "PKCS12", "-storepass", PASSWORD, "-keystore",
				store.toString())
			.redirectErrorStream(true)
			.start();
		String output = new String(keytool.getInputStream().readAllBytes());
		assertThat(keytool.waitFor()).as(output).isZero();
		try {
			KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
			return new TestCertificate(store,
					write(folder.resolve(host + ".crt"), "CERTIFICATE", keys.getCertificate(ALIAS).getEncoded()),
					write(folder.resolve(host + ".key"), "PRIVATE KEY",
							keys.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded()));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Path write(Path file, String label, byte[] content) throws IOException {
		return Files.writeString(file, "-----BEGIN %s-----\n%s\n-----END %1$s-----\n".formatted(label,
				Base64.getMimeEncoder(64, new byte[] { '\n' }).encodeToString(content)));
	}

}
