import { startHealth } from './health.js';
import { startLive } from './live.js';
import { startMore } from './more.js';
import { startOutage } from './outage.js';
import { startRace } from './race.js';
import { showExamples } from './try.js';

startHealth();
startRace();
startLive();
startOutage();
startMore();
showExamples();
