// What one or two clients do, with every lock library alike.
'use strict'

const { setTimeout: sleep } = require('node:timers/promises')

const LONG = 30_000
const SHORT = 600

// The library was not given what it would have been given by Redis.
class Broken extends Error {
  name = 'Broken'
}

function expect(truth, what) {
  if (!truth) throw new Broken(what)
}

// A library that does not tell is taken at what others see.
async function released(s, held, what) {
  expect((await s.release(held)) !== false, what)
}

async function uncontended(s, key) {
  for (let i = 0; i < 2; i++) {
    const held = await s.acquire(key, LONG)
    expect(held, 'a free lock is not had')
    await released(s, held, 'its holder cannot release it')
  }
}

async function twoContenders(s, key) {
  const both = (await Promise.all([s.acquire(key, LONG), s.acquire(key, LONG)])).filter(Boolean)
  expect(both.length === 1, `${both.length} of two hold the lock`)
  expect(!(await s.acquire(key, LONG)), 'two hold the lock')
  await released(s, both[0], 'its holder cannot release it')
  const second = await s.acquire(key, LONG)
  expect(second, 'a released lock is not had')
  await released(s, second, 'its second holder cannot release it')
}

async function extended(s, key) {
  const held = await s.acquire(key, SHORT)
  expect(held, 'a free lock is not had')
  const longer = await s.extend(held, LONG)
  expect(longer, 'its holder cannot extend it')
  await sleep(1.5 * SHORT)
  expect(!(await s.acquire(key, LONG)), 'an extended lock is had by another after its first ttl')
  await released(s, longer, 'its holder cannot release what was extended')
}

async function expiryAndStranger(s, key) {
  const before = performance.now()
  const late = await s.acquire(key, SHORT)
  expect(late, 'a free lock is not had')
  let held
  while (!(held = await s.acquire(key, LONG))) {
    expect(performance.now() - before < SHORT + 5000, 'an expired lock is not had')
    await sleep(20)
  }
  const waited = performance.now() - before
  // Timers of Node round to a millisecond.
  expect(waited >= SHORT - 1, `a lock of ${SHORT} ms was had by another after ${waited} ms`)
  // Who was first is a stranger now.
  expect(!(await s.release(late)), 'one that holds it no more has released it')
  expect(!(await s.extend(late, LONG)), 'one that holds it no more has extended it')
  expect(!(await s.acquire(key, LONG)), "a stranger's release has freed the lock")
  await released(s, held, 'its holder cannot release it')
}

async function severalKeys(s, key) {
  const [a, b, c] = ['a', 'b', 'c'].map((x) => `${key} ${x}`)
  const held = await s.acquire([a, b], LONG)
  expect(held, 'two free keys are not had')
  expect(!(await s.acquire([b, c], LONG)), 'a key that is held is had together with a free one')
  const free = await s.acquire([c], LONG)
  expect(free, 'a lost acquire of two keys left one behind')
  await released(s, free, 'the holder of one key cannot release it')
  const longer = await s.extend(held, LONG)
  expect(longer, 'the holder of two keys cannot extend them')
  await released(s, longer, 'the holder of two keys cannot release them')
  const all = await s.acquire([a, b, c], LONG)
  expect(all, 'released keys are not had')
  await released(s, all, 'the holder of three keys cannot release them')
}

async function scriptsFlushed(s, key) {
  await s.flushScripts()
  const held = await s.acquire(key, LONG)
  expect(held, 'a free lock is not had after SCRIPT FLUSH')
  await s.flushScripts()
  const longer = await s.extend(held, LONG)
  expect(longer, 'its holder cannot extend it after SCRIPT FLUSH')
  await s.flushScripts()
  await released(s, longer, 'its holder cannot release it after SCRIPT FLUSH')
  const again = await s.acquire(key, LONG)
  expect(again, 'a lock that was released after SCRIPT FLUSH is not had')
  await released(s, again, 'its second holder cannot release it')
}

// Each scenario has a lock of its own, so that one that breaks harms no other.
const row = (s, what, scenario) => [what, () => scenario(s, `${s.name}: ${scenario.name}`)]

// quiet are those that nobody else feels: what is run, and how.
function quiet(s) {
  return [
    row(s, 'lock and unlock', uncontended),
    row(s, 'two contenders', twoContenders),
    row(s, 'extend', extended),
    row(s, 'expiry and a late release', expiryAndStranger),
    ...(s.keys ? [row(s, 'several keys', severalKeys)] : []),
    ...(s.also ?? []),
  ]
}

// loud are the others.
function loud(s) {
  return [row(s, 'SCRIPT FLUSH', scriptsFlushed)]
}

module.exports = { expect, quiet, loud }
