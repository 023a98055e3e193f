package io.github.ratelimit.benchmarks;

import java.io.StringReader;
import java.nio.file.Path;
import java.util.List;

import javax.xml.parsers.DocumentBuilderFactory;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.benchmarks.BurstTraffic.Second;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.xml.sax.InputSource;

import static org.assertj.core.api.Assertions.assertThat;

class BurstPictureTests {

	static List<Algorithm> algorithms() {
		return Algorithms.all();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void pictureIsWellFormed(Algorithm algorithm) throws Exception {
		String svg = BurstPicture.draw(algorithm);
		var document = DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(new InputSource(new StringReader(svg)));
		assertThat(document.getDocumentElement().getTagName()).isEqualTo("svg");
		assertThat(document.getElementsByTagName("title").item(0).getTextContent()).startsWith(algorithm.name());
	}

	/** If it is not, the command in {@link BurstPicture} draws it again. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void pictureInTheDocumentationIsThatOfThePresentDecisions(Algorithm algorithm) {
		assertThat(Path.of("../docs/images", BurstPicture.fileName(algorithm)))
			.hasContent(BurstPicture.draw(algorithm));
	}

	@Test
	void burstAroundEdgeIsAdmittedTwiceByFixedWindowsOnly() {
		assertThat(BurstTraffic.send(new FixedWindow())).extracting(Second::inLastWindow).contains(40);
		assertThat(BurstTraffic.send(new SlidingLog())).extracting(Second::inLastWindow)
			.contains(20)
			.allMatch((count) -> count <= 20);
	}

	@Test
	void everyRequestIsAdmittedOrDenied() {
		List<Second> seconds = BurstTraffic.send(new SlidingLog());
		assertThat(seconds).hasSize(BurstTraffic.SECONDS);
		assertThat(seconds.stream().mapToInt((second) -> second.admitted() + second.denied()).sum())
			.isEqualTo(180 + 60 + 87);
	}

}
