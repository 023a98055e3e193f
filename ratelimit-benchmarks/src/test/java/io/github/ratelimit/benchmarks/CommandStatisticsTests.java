package io.github.ratelimit.benchmarks;

import io.github.ratelimit.benchmarks.CommandStatistics.Command;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CommandStatisticsTests {

	private static final String BEFORE = """
			# Commandstats
			cmdstat_evalsha:calls=10,usec=100,usec_per_call=10.00,rejected_calls=0,failed_calls=0
			cmdstat_info:calls=1,usec=50,usec_per_call=50.00,rejected_calls=0,failed_calls=0
			cmdstat_get:calls=10,usec=9,usec_per_call=0.90
			""";

	private static final String AFTER = """
			# Commandstats
			cmdstat_evalsha:calls=14,usec=130,usec_per_call=9.29,rejected_calls=0,failed_calls=0
			cmdstat_info:calls=2,usec=99,usec_per_call=49.50,rejected_calls=0,failed_calls=0
			cmdstat_script|load:calls=1,usec=70,usec_per_call=70.00,rejected_calls=0,failed_calls=0
			cmdstat_get:calls=10,usec=9,usec_per_call=0.90
			cmdstat_set:calls=4,usec=5,usec_per_call=1.25,rejected_calls=0,failed_calls=0
			cmdstat_time:calls=4,usec=1,usec_per_call=0.25,rejected_calls=0,failed_calls=0
			""";

	private final CommandStatistics since = CommandStatistics.parse(AFTER).since(CommandStatistics.parse(BEFORE));

	@Test
	void differencesAreThoseOfCommandsThatWereExecuted() {
		assertThat(this.since.commands()).containsOnlyKeys("evalsha", "info", "script|load", "set", "time");
		assertThat(this.since.command("evalsha")).isEqualTo(new Command(4, 30));
		assertThat(this.since.command("evalsha").microsPerCall()).isEqualTo(7.5);
	}

	@Test
	void callsInScriptsAreNeitherScriptsNorQuestionsAboutThem() {
		assertThat(this.since.callsInScripts()).isEqualTo(8);
	}

}
