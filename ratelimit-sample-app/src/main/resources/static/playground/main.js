import { startHealth } from './health.js';
import { startLive } from './live.js';
import { startMore } from './more.js';
import { startOutage } from './outage.js';
import { startRace } from './race.js';
import { startShared } from './shared.js';
import { showExamples } from './try.js';

startHealth();
startRace();
startShared();
startLive();
startOutage();
startMore();
showExamples();
