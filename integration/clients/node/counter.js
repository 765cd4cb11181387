// Many contenders guard a counter that knows nothing of locks.
'use strict'

const { setTimeout: sleep } = require('node:timers/promises')

const CONTENDERS = 20
const MILLISECONDS = 5000
const ENOUGH = 24 // if there are fewer by then it goes on
const WHAT = `counter of ${CONTENDERS} contenders for ${MILLISECONDS / 1000} s`

class LostUpdate extends Error {
  name = 'LostUpdate'
}

async function run(subject) {
  let value = 0
  let increments = 0
  let inside = 0

  // Read, a pause, write: two at a time lose an update.
  async function work() {
    if (++inside > 1) throw new LostUpdate(`${inside} hold the lock at once`)
    const read = value
    await sleep(2)
    value = read + 1
    increments++
    inside--
  }

  const until = performance.now() + MILLISECONDS
  async function contend() {
    while (performance.now() < until || value < ENOUGH) {
      if (!(await subject.guard(`${subject.name}: counter`, work))) await sleep(10 + Math.random() * 20)
    }
  }
  const all = await Promise.allSettled(Array.from({ length: CONTENDERS }, contend))
  const broken = all.find((r) => r.status === 'rejected')
  if (broken) throw broken.reason
  if (value !== increments) throw new LostUpdate(`${increments} increments made ${value}`)
  return `${WHAT} (${value} increments, none lost)`
}

module.exports = { run, WHAT }
