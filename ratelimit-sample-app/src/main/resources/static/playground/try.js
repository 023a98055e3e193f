import { html } from './svg.js';
import { yaml } from './yaml.js';

const SHOWN = ['content-type', 'ratelimit-policy', 'ratelimit', 'x-rate-limit-limit', 'x-rate-limit-remaining', 'retry-after'];

const EXAMPLES = [
	{
		title: 'A limited path',
		text: 'Three limits are enforced together, for your address and for the user. The headers show the one that is closest.',
		settings: ['search'],
		path: '/api/search?q=redis', headers: { 'X-User': 'alice' },
	},
	{
		title: 'Two prices',
		text: 'Writing costs 2 of the quota, reading 1.',
		settings: ['user'],
		path: '/user', method: 'POST',
	},
	{
		title: 'Guessing passwords',
		text: 'Five attempts in 15 minutes for an account from your address, 20 an hour from anywhere. The name is in the body: no header changes who is counted.',
		settings: ['login', 'login-account', 'login-address'],
		path: '/login', method: 'POST', json: { username: 'bob', password: 'guess' }, times: 6,
	},
	{
		title: 'A cost that depends on the request',
		text: 'A report of 700 rows costs 8 of 10. The second gets a fallback answer instead of a 429.',
		code: '@RateLimited(limits = "10/m", costExpression = "#rows > 0 ? #rows / 100 + 1 : 1", fallbackMethod = "reportLater")',
		path: '/report?rows=700', times: 2,
	},
	{
		title: 'A policy in code',
		text: 'A bean declares this policy, with a bucket of three tokens. The method returns a CompletableFuture.',
		code: 'return (policies) -> policies.add("quotes").limits("1/10s").algorithm(new TokenBucket(3L));\n\n@RateLimited("quotes")',
		path: '/quote', times: 4,
	},
	{
		title: 'From another origin',
		text: 'A page of another origin can read the 429 and its headers, because they are exposed according to the CORS settings of the application.',
		settings: ['demo-token-bucket'],
		path: '/demo/token-bucket', times: 6, otherOrigin: true,
	},
	{
		title: 'The counts of a client',
		text: 'What is left for an address, without using it.',
		settings: ['management', 'user'],
		path: '/actuator/ratelimits/counts?policy=user&identifier=ip:127.0.0.1',
	},
];

export function showExamples() {
	document.getElementById('examples').append(...EXAMPLES.map(show));
}

function show(example) {
	const line = curl(example);
	const answer = html('pre', { className: 'answer', tabIndex: 0, textContent: 'The answer appears here.' });
	answer.setAttribute('role', 'status');
	answer.setAttribute('aria-label', `Answer to: ${example.title}`);
	const copy = html('button', { type: 'button', textContent: 'Copy' });
	const send = html('button', { type: 'button', className: 'primary', textContent: 'Send' });
	copy.setAttribute('aria-label', `Copy: ${example.title}`);
	send.setAttribute('aria-label', `Send: ${example.title}`);
	copy.addEventListener('click', async () => {
		await navigator.clipboard.writeText(line);
		copy.textContent = 'Copied';
		setTimeout(() => { copy.textContent = 'Copy'; }, 2000);
	});
	send.addEventListener('click', async () => { answer.textContent = await run(example); });
	const element = html('article', { className: 'example panel' },
		html('div', {}, html('h3', { textContent: example.title }), html('p', { textContent: example.text }),
			example.code ? html('pre', { className: 'yaml', textContent: example.code }) : yaml(...example.settings),
			html('pre', { className: 'curl', tabIndex: 0 }, html('code', { textContent: line })),
			html('div', { className: 'actions' }, send, copy)),
		answer);
	element.dataset.path = example.path;
	return element;
}

/** Returns the options of fetch. */
function options({ method = 'GET', headers = {}, json }) {
	return json ? { method, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(json) } : { method, headers };
}

function curl(example) {
	const { path, times = 1, otherOrigin } = example;
	const { method, headers, body } = options(example);
	const words = [
		...(method === 'GET' || body) ? [] : [`-X ${method}`],
		...Object.entries(otherOrigin ? { ...headers, Origin: location.origin } : headers).map(([name, value]) => `-H '${name}: ${value}'`),
		...body ? [`-d '${body}'`] : [],
	];
	const line = ['curl -i', ...words, `'${url(path, otherOrigin)}'`].join(' ');
	return (times === 1) ? line : `for i in $(seq ${times}); do ${line}; echo; done`;
}

/** For a browser localhost and 127.0.0.1 are two origins, although both are this application. */
function url(path, otherOrigin) {
	const { protocol, hostname, port } = location;
	const host = otherOrigin ? ((hostname === 'localhost') ? '127.0.0.1' : 'localhost') : hostname;
	return `${protocol}//${host}${port ? `:${port}` : ''}${path}`;
}

async function run(example) {
	const { path, times = 1, otherOrigin } = example;
	const statuses = [];
	let response;
	try {
		for (let i = 0; i < times; i++) {
			response = await fetch(url(path, otherOrigin), { ...options(example), cache: 'no-store' });
			statuses.push(response.status);
		}
		const shown = [...response.headers].filter(([name]) => SHOWN.includes(name)).map(([name, value]) => `${name}: ${value}`);
		const before = (times === 1) ? [] : [`Answers: ${statuses.join(' ')}. The last:`, ''];
		return [...before, `HTTP ${response.status}`, ...shown, '', pretty(await response.text())].join('\n');
	}
	catch (error) {
		return `No answer: ${error.message}`;
	}
}

function pretty(body) {
	try {
		return JSON.stringify(JSON.parse(body), null, 2);
	}
	catch (error) {
		return body.trimEnd();
	}
}
