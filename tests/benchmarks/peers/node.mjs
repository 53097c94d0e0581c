// cockatiel and p-retry against a loop: success at the first attempt, and one delay with jitter. Prints
// library,path,by hand,library in ns.
import { ExponentialBackoff, handleAll, retry } from 'cockatiel';
import pRetry from 'p-retry';

async function answer(question) {
  if (question < 0) throw new Error('no answer');
  return question + 1;
}

async function byHand(question) {
  for (let retries = 0; ; ++retries) {
    try {
      return await answer(question);
    } catch (error) {
      if (retries === 2) throw error;
    }
  }
}

const policy = retry(handleAll, { maxAttempts: 2, backoff: new ExponentialBackoff() });
const withCockatiel = (question) => policy.execute(() => answer(question));
const withPRetry = (question) => pRetry(() => answer(question), { retries: 2, randomize: true });

async function nanoseconds(call, times = 2000) {
  const began = process.hrtime.bigint();
  for (let i = 0; i < times; ++i) await call(i);
  return Number(process.hrtime.bigint() - began) / times;
}
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function compare(library, path, hand, call) {
  const hands = [], calls = [];
  for (let round = 0; round < 31; ++round) {
    hands.push(await nanoseconds(hand));
    calls.push(await nanoseconds(call));
  }
  console.log(`${library},${path},${median(hands).toFixed(1)},${median(calls).toFixed(1)}`);
}

// Both go on from one delay to the next, and begin anew after twelve.
let handStep = 0;
const delayByHand = () => {
  handStep = (handStep + 1) % 12;
  return Math.random() * Math.min(30_000, 128 * 2 ** handStep);
};
const backoff = new ExponentialBackoff();
let step = backoff.next(undefined), steps = 0;
const delayWithCockatiel = () => {
  step = ++steps % 12 === 0 ? backoff.next(undefined) : step.next(undefined);
  return step.duration;
};

await compare('cockatiel 3.2.1', 'success', byHand, withCockatiel);
await compare('p-retry 7.1.1', 'success', byHand, withPRetry);
await compare('cockatiel 3.2.1', 'one delay', delayByHand, delayWithCockatiel);
