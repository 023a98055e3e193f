import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathFactory;

import org.w3c.dom.Document;

/**
 * Checks a folder in the layout of a Maven repository by what Maven Central demands of a
 * release: https://central.sonatype.org/publish/requirements/.
 */
final class CheckBundle {

	private static final List<String> DEMANDED = List.of("name", "description", "url", "licenses/license/name",
			"licenses/license/url", "developers/developer/name", "scm/url", "scm/connection");

	private final XPath xpath = XPathFactory.newInstance().newXPath();

	private final List<String> faults = new ArrayList<>();

	private final Path bundle;

	private final boolean signed;

	private CheckBundle(Path bundle, boolean signed) {
		this.bundle = bundle;
		this.signed = signed;
	}

	public static void main(String[] args) throws Exception {
		CheckBundle check = new CheckBundle(Path.of(args[0]), !List.of(args).contains("-Dgpg.skip"));
		int files = check.run();
		check.faults.forEach((fault) -> System.err.println("ERROR " + fault));
		if (!check.faults.isEmpty()) {
			System.exit(1);
		}
		System.out.printf("Checked %d files: as Maven Central demands%s.%n", files,
				check.signed ? "" : ", but for signatures, which were skipped");
	}

	private int run() throws Exception {
		List<Path> files;
		try (Stream<Path> all = Files.walk(this.bundle)) {
			files = all.filter(Files::isRegularFile).filter((file) -> !file.toString().matches(".*\\.(md5|sha\\d+|asc)")).toList();
		}
		Set<String> modules = new TreeSet<>();
		for (Path file : files) {
			checkSum(file, "MD5", ".md5");
			checkSum(file, "SHA-1", ".sha1");
			if (this.signed) {
				checkSignature(file);
			}
			if (file.toString().endsWith(".pom")) {
				Document pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
				checkPom(file, pom);
				modules.add(text(pom, "artifactId"));
			}
		}
		checkBom(modules);
		return files.size();
	}

	private void checkSum(Path file, String algorithm, String suffix) throws Exception {
		String sum = HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file)));
		Path written = Path.of(file + suffix);
		expect(Files.exists(written) && Files.readString(written).strip().equals(sum), file, "has no right " + suffix);
	}

	private void checkSignature(Path file) throws IOException, InterruptedException {
		Path signature = Path.of(file + ".asc");
		expect(Files.exists(signature) && new ProcessBuilder("gpg", "--batch", "--quiet", "--verify",
				signature.toString(), file.toString())
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start()
			.waitFor() == 0, file, "has no right signature");
	}

	private void checkPom(Path file, Document pom) throws Exception {
		String name = text(pom, "artifactId");
		Path folder = file.getParent();
		String version = folder.getFileName().toString();
		expect(!version.endsWith("-SNAPSHOT"), file, "is a snapshot");
		Path parent = this.bundle.resolve("io/github/ratelimit/ratelimit-parent/%s/ratelimit-parent-%s.pom".formatted(version, version));
		Document inherited = text(pom, "parent/artifactId").isEmpty() ? pom
				: DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(parent.toFile());
		for (String path : DEMANDED) {
			String value = text(pom, path).isEmpty() ? text(inherited, path) : text(pom, path);
			value = value.replace("${repository.url}", text(inherited, "properties/repository.url"));
			expect(!value.isEmpty() && !value.contains("${"), file, "has no " + path);
			expect(!path.equals("url") || value.startsWith("https://"), file, "has no url with https");
		}
		for (String path : List.of("repositories", "pluginRepositories")) {
			expect(text(pom, path).isEmpty(), file, "names " + path);
		}
		expect(!pom.getDocumentElement().getTextContent().contains("-SNAPSHOT"), file, "names a snapshot");
		if (!text(pom, "packaging").equals("pom")) {
			for (String suffix : List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json")) {
				expect(Files.exists(folder.resolve(name + "-" + version + suffix)), file, "is without its " + suffix);
			}
		}
	}

	/** It names all that is published with a jar, except the program, and nothing else. */
	private void checkBom(Set<String> modules) throws Exception {
		Path bom;
		try (Stream<Path> all = Files.walk(this.bundle)) {
			bom = all.filter((file) -> file.toString().matches(".*/ratelimit-bom-[^/]*\\.pom")).findFirst().orElseThrow();
		}
		Document pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(bom.toFile());
		var nodes = pom.getElementsByTagName("dependency");
		Set<String> managed = new TreeSet<>();
		for (int i = 0; i < nodes.getLength(); i++) {
			managed.add(this.xpath.evaluate("artifactId", nodes.item(i)));
		}
		Set<String> jars = modules.stream()
			.filter((name) -> !Set.of("ratelimit-bom", "ratelimit-parent", "ratelimit-replay").contains(name))
			.collect(Collectors.toCollection(TreeSet::new));
		expect(managed.equals(jars), bom, "manages %s, but published are %s".formatted(managed, jars));
	}

	private String text(Document pom, String path) throws Exception {
		return this.xpath.evaluate("/project/" + path, pom).strip();
	}

	private void expect(boolean condition, Path file, String fault) {
		if (!condition) {
			this.faults.add(String.format(Locale.ROOT, "%s %s", this.bundle.relativize(file), fault));
		}
	}

}
