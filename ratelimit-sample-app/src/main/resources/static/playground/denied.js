import { denied } from './actuator.js';
import { html, svg } from './svg.js';

const SHOWN = 10;
const OF_EACH_POLICY = 5;
const HEIGHT = 24;
const BAR = 14;
const GAP = 4;

const OUTCOMES = { denied: 'denied', blocked: 'blocked', 'shadow-denied': 'would be denied' };

let shown;

/** Shows who was denied most in the last minutes. What has not changed stays, so that it can be selected. */
export async function showDenied() {
	const most = (await denied(OF_EACH_POLICY)).slice(0, SHOWN);
	if (JSON.stringify(most) === shown) {
		return;
	}
	shown = JSON.stringify(most);
	const top = Math.max(1, ...most.flatMap(({ byMinute }) => byMinute));
	document.getElementById('denied').replaceChildren(...most.length ? most.map((each) => row(each, top))
		: [html('li', { className: 'nobody', textContent: 'Nobody was denied.' })]);
}

function row({ policy, identifier, outcome, requests, byMinute }, top) {
	const element = html('li', {},
		html('p', { className: 'who' }, html('b', { textContent: identifier }), ' ', html('span', { textContent: policy })),
		bars(byMinute, top),
		html('p', { className: 'times' }, html('b', { textContent: requests }), ` ${OUTCOMES[outcome] ?? outcome}`));
	element.dataset.outcome = outcome;
	return element;
}

/** The last bar is the present minute. */
function bars(numbers, top) {
	const width = numbers.length * (BAR + GAP) - GAP;
	return svg('svg', { class: 'minutes', viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, 'aria-hidden': 'true' },
		...numbers.flatMap((number, i) => {
			const height = number ? Math.max(2, number / top * HEIGHT) : 0;
			const x = i * (BAR + GAP);
			return [svg('rect', { class: 'ground', x, y: HEIGHT - 1, width: BAR, height: 1 }),
				svg('rect', { x, y: HEIGHT - height, width: BAR, height })];
		}));
}
