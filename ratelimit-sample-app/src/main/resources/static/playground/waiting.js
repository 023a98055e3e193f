import { ask } from './tile.js';

const PATIENT = 10;
const IMPATIENT = 1;

/* Milliseconds between two callers, so that they come in order. */
const BETWEEN = 100;

/** Sends a caller, and then three more, and shows how long each has waited as soon as it is answered. */
export async function waitInLine(trial) {
	const told = [];
	const wait = async (atMost, number) => {
		const start = performance.now();
		const { response, outcome } = await ask(`/more/waiting?seconds=${atMost}`, { headers: { 'X-Client': trial.client } });
		const waited = ((performance.now() - start) / 1000).toFixed(1);
		const retryAfter = response?.headers.get('Retry-After');
		trial.mark(outcome);
		told[number] = `Caller ${number + 1} may wait ${atMost} s: ${outcome} after ${waited} s${retryAfter ? `, retry after ${retryAfter} s` : ''}.`;
		trial.say(told.filter(Boolean).join('\n'));
	};
	trial.clear();
	await wait(PATIENT, 0);
	await Promise.all([PATIENT, PATIENT, IMPATIENT].map(async (atMost, i) => {
		await new Promise((resolve) => setTimeout(resolve, i * BETWEEN));
		await wait(atMost, i + 1);
	}));
	return told.join('\n');
}
