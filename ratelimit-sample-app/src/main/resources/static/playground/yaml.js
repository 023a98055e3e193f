import { html } from './svg.js';

let file;

/** Returns an element with groups of settings, such as policies, as application.yml has them. */
export function yaml(...names) {
	const element = html('pre', { className: 'yaml' });
	settings(...names).then((text) => { element.textContent = text; });
	return element;
}

/** Returns the text of groups of settings. */
export async function settings(...names) {
	file ??= fetch('/application.yml').then((response) => (response.ok ? response.text() : ''), () => '');
	const lines = (await file).split('\n');
	return names.map((name) => group(lines, name)).join('\n');
}

/** Returns a group without the indentation that it has in the file. */
function group(lines, name) {
	const start = lines.findIndex((line) => new RegExp(`^ *${name}:( |$)`).test(line));
	const indent = depth(lines[start]);
	const rest = lines.slice(start + 1);
	const end = rest.findIndex((line) => depth(line) <= indent);
	return lines.slice(start, (end < 0) ? lines.length : start + 1 + end)
		.map((line) => line.slice(indent).replace(/ {2,}#/, '  #')).join('\n').trimEnd();
}

function depth(line = '') {
	return line.search(/\S|$/);
}
