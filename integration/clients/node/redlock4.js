// redlock 4, which counts the proxy as its one server.
'use strict'

const Redis = require('ioredis5')
const Redlock = require('redlock4')

class Redlock4 {
  keys = true
  name = `redlock ${require('redlock4/package.json').version}`

  constructor(host, port) {
    this.client = new Redis(port, host)
    this.patient = new Redlock([this.client])
    // One attempt, for those who ask whether it is held.
    this.impatient = new Redlock([this.client], { retryCount: 0 })
    // What is no refusal comes as an event, and nobody else would hear of it.
    this.troubles = []
    for (const r of [this.patient, this.impatient]) r.on('clientError', (e) => this.troubles.push(e))
  }

  async refusable(promise, refused) {
    try {
      return await promise
    } catch (e) {
      if (this.troubles.length > 0) throw this.troubles.shift()
      if (!(e instanceof Redlock.LockError)) throw e
      return refused
    }
  }

  acquire(key, ttl) { return this.refusable(this.impatient.lock(key, ttl), null) }

  release(lock) { return this.refusable(lock.unlock().then(() => true), false) }

  extend(lock, ttl) { return this.refusable(lock.extend(ttl), null) }

  flushScripts() { return this.client.script('FLUSH') }

  async guard(key, work) {
    const lock = await this.refusable(this.patient.lock(key, 10_000), null)
    if (!lock) return false
    await work()
    await lock.unlock()
    return true
  }

  close() { return this.client.quit() }
}

module.exports = { subjects: (host, port) => [new Redlock4(host, port)] }
