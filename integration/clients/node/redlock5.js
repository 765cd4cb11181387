// redlock 5, which counts the proxy as its one server, over two drivers.
'use strict'

const { default: Redlock, ExecutionError, ResourceLockedError } = require('redlock5')

class Redlock5 {
  keys = true

  constructor(driver, host, port) {
    const { version } = require(`${driver}/package.json`)
    this.name = `redlock 5.0.0-beta.2 on ioredis ${version}`
    this.client = new (require(driver))(port, host)
    this.patient = new Redlock([this.client])
    // One attempt, for those who ask whether it is held.
    this.impatient = new Redlock([this.client], { retryCount: 0 })
    // What is no refusal comes as an event, and nobody else would hear of it.
    this.troubles = []
    for (const r of [this.patient, this.impatient]) {
      r.on('error', (e) => {
        if (!(e instanceof ResourceLockedError)) this.troubles.push(e)
      })
    }
  }

  async refusable(promise, refused) {
    try {
      return await promise
    } catch (e) {
      if (this.troubles.length > 0) throw this.troubles.shift()
      if (!(e instanceof ExecutionError)) throw e
      return refused
    }
  }

  acquire(key, ttl) { return this.refusable(this.impatient.acquire([key].flat(), ttl), null) }

  release(lock) { return this.refusable(lock.release().then(() => true), false) }

  extend(lock, ttl) { return this.refusable(lock.extend(ttl), null) }

  flushScripts() { return this.client.script('FLUSH') }

  async guard(key, work) {
    let had = false
    const done = this.patient.using([key], 10_000, async (signal) => {
      had = true
      await work()
      if (signal.aborted) throw signal.error
    })
    try {
      await done
    } catch (e) {
      if (had || !(e instanceof ExecutionError)) throw e
    }
    if (this.troubles.length > 0) throw this.troubles.shift()
    return had
  }

  close() { return this.client.quit() }
}

module.exports = { subjects: (host, port) => ['ioredis5', 'ioredis6'].map((d) => new Redlock5(d, host, port)) }
