/* The algorithms, when to take which, and the most that each ever admits within a window: docs/algorithms.md has the proof. */

export const ALGORITHMS = [
	{
		name: 'fixed-window',
		text: 'One count for each window, aligned to the clock. Allows twice the quota around an edge.',
		take: 'Take it for quotas of calendar days, or to keep past counts.',
		bound: (quota) => 2 * quota,
	},
	{
		name: 'first-request-window',
		text: 'As fixed-window, but a window starts with the first request of a client.',
		take: 'Take it for a number of attempts.',
		bound: (quota) => 2 * quota,
	},
	{
		name: 'sliding-window-counter',
		text: 'Estimates a sliding window from two counts.',
		take: 'Take it for the smallest state, near the quota.',
		bound: (quota) => 2 * quota - 1,
	},
	{
		name: 'sliding-window',
		text: 'A log of bounded size. The default: never exceeds the quota.',
		take: 'Take it unless one of the others is needed.',
		bound: (quota) => quota,
	},
	{
		name: 'sliding-log',
		text: 'Stores the time of every allowed request. Exact.',
		take: 'Take it to read single requests back.',
		bound: (quota) => quota,
	},
	{
		name: 'leaky-bucket',
		text: 'A full bucket at once, then one request at a time as it drains.',
		take: 'Take it for an even rate.',
		bound: (quota) => 2 * quota,
	},
	{
		name: 'token-bucket',
		text: 'As leaky-bucket, with an optional burst size.',
		take: 'Take it for an even rate with bursts of a size you choose.',
		bound: (quota) => 2 * quota,
	},
];
