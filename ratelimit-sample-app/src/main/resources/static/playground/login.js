import { getJson } from './actuator.js';
import { ask } from './tile.js';

const ANSWERS = {
	200: 'welcome, and the account starts anew',
	401: 'wrong password',
	429: 'denied, whatever the password is',
	503: 'nobody logs in while Redis is down',
};

/** Logs in to an account that has the name of the client, and returns what was said and what is left. */
export async function logIn(trial, password) {
	const { response, outcome } = await ask('/more/login', {
		method: 'POST', body: new URLSearchParams({ username: trial.client, password }),
	});
	trial.mark(outcome);
	const left = await getJson(`/more/login?username=${trial.client}`);
	const attempts = (left?.account === undefined) ? '' : ` Left: ${left.account} for this account from here, ${left.address} for this address.`;
	return `${response ? `${response.status}, ${ANSWERS[response.status] ?? 'failed'}` : 'No answer'}.${attempts}`;
}
