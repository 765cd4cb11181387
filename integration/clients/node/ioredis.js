// ioredis alone: SET NX PX, and scripts as commands of one's own.
'use strict'

const { randomUUID } = require('node:crypto')
const { RELEASE, EXTEND } = require('./lua')

class IORedis {
  constructor(driver, host, port) {
    this.name = `ioredis ${require(`${driver}/package.json`).version}`
    this.client = new (require(driver))(port, host)
    this.client.defineCommand('unlock', { numberOfKeys: 1, lua: RELEASE })
    this.client.defineCommand('prolong', { numberOfKeys: 1, lua: EXTEND })
  }

  async acquire(key, ttl) {
    const token = randomUUID()
    return (await this.client.set(key, token, 'PX', ttl, 'NX')) === 'OK' ? { key, token } : null
  }

  async release({ key, token }) { return (await this.client.unlock(key, token)) === 1 }

  async extend(held, ttl) { return (await this.client.prolong(held.key, held.token, ttl)) === 1 ? held : null }

  flushScripts() { return this.client.script('FLUSH') }

  async guard(key, work) {
    const held = await this.acquire(key, 10_000)
    if (!held) return false
    await work()
    if (!(await this.release(held))) throw new Error('its holder cannot release it')
    return true
  }

  close() { return this.client.quit() }
}

module.exports = { IORedis, subjects: (host, port) => ['ioredis5', 'ioredis6'].map((d) => new IORedis(d, host, port)) }
