// Runs every scenario for every library: matrix.js HOST PORT [PENDING...]
//
// A subject is one way in which a library is used. It has a name and these
// functions, which all answer promises:
//
//   acquire(key, ttl)   one attempt, ttl in milliseconds: what stands for the
//                       lock, or null if somebody has it
//   release(held)       true, false if it was refused, undefined if the library
//                       does not tell
//   extend(held, ttl)   what now stands for the lock, or null if it was refused
//   flushScripts()      SCRIPT FLUSH through the proxy
//   guard(key, work)    does the work under the lock as the library's own
//                       documentation shows; false if the lock was not had
//   close()
//
// keys, if it locks several at once: acquire then takes a list too; and also, what
// only this one is asked: what it is, and how it is run.
'use strict'

const counter = require('./counter')
const scenarios = require('./scenarios')

const libraries = [
  require('./redlock4'),
  require('./redlock5'),
  require('./ioredis'),
  require('./node_redis'),
  require('./redis_semaphore'),
  require('./redlock_universal'),
]

// How many counters run at a time.
const SIDE_BY_SIDE = 5

// What may be heard of a library that is still pending, by its name.
function pendingReasons(texts) {
  return new Map(texts.map((text) => {
    const [name, ...why] = text.split(': ')
    return [name, why.join(': ')]
  }))
}

async function attempt(verdict, what, run) {
  try {
    verdict.passed.push((await run()) || what)
  } catch (e) {
    console.error(e)
    verdict.failed.push(`${what}: ${`${e.name}: ${e.message}`.replaceAll('\n', ' ')}`)
  }
}

async function count(verdict) {
  const { subject } = verdict
  console.log(`counter begins ${subject.name}`)
  await attempt(verdict, counter.WHAT, () => counter.run(subject))
  console.log(`counter ends ${subject.name}`)
}

function report({ subject, passed, failed }, pending) {
  if (failed.length === 0) {
    console.log(`ok ${subject.name}: ${passed.join(', ')}`)
    return true
  }
  const why = pending.get(subject.name)
  if (why !== undefined) {
    console.log(`pending ${subject.name}: ${why} (${failed.join('; ')})`)
    return true
  }
  for (const f of failed) console.log(`FAIL ${subject.name}: ${f}`)
  return false
}

async function main(host, port, ...texts) {
  const pending = pendingReasons(texts)
  const subjects = (await Promise.all(libraries.map((l) => l.subjects(host, Number(port))))).flat()
  const verdicts = subjects.map((subject) => ({ subject, passed: [], failed: [] }))
  await Promise.all(verdicts.map(async (v) => {
    for (const [what, run] of scenarios.quiet(v.subject)) await attempt(v, what, run)
  }))
  // One after the other: SCRIPT FLUSH is felt by everybody.
  for (const v of verdicts) {
    for (const [what, run] of scenarios.loud(v.subject)) await attempt(v, what, run)
  }
  for (let i = 0; i < verdicts.length; i += SIDE_BY_SIDE) {
    await Promise.all(verdicts.slice(i, i + SIDE_BY_SIDE).map(count))
  }
  await Promise.all(subjects.map((s) => s.close()))
  const good = verdicts.map((v) => report(v, pending))
  process.exitCode = good.every(Boolean) ? 0 : 1
}

main(...process.argv.slice(2)).catch((e) => {
  console.error(e)
  console.log(`FAIL node ${process.version}: ${e.message}`)
  process.exit(1)
})
