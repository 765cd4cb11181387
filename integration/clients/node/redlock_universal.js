// redlock-universal's plain and lean lock, over one driver each.
'use strict'

const { setTimeout: sleep } = require('node:timers/promises')
const Redis = require('ioredis6')
const { createClient } = require('redis')
const { IoredisAdapter, LockAcquisitionError, LockManager, NodeRedisAdapter, createLock } = require('redlock-universal')
const { dependencies } = require('./package.json')
const { expect } = require('./scenarios')

const PATIENCE = { retryAttempts: 3, retryDelay: 100 } // its defaults

class Universal {
  keys = true

  constructor(performance, driver, adapter, client) {
    this.name = `redlock-universal ${dependencies['redlock-universal']} ${performance} on ${driver}`
    Object.assign(this, { performance, adapter, client })
    this.manager = new LockManager({ nodes: [adapter] })
    this.also = [['extended by itself', () => extendedByItself(this, `${this.name}: by itself`)]]
  }

  lock(key, ttl, patience) {
    return createLock({ adapter: this.adapter, key, ttl, performance: this.performance, ...patience })
  }

  // What went wrong comes as what is held does, but for its cause.
  async refusable(promise) {
    try {
      return await promise
    } catch (e) {
      if (e instanceof LockAcquisitionError && /already (held|locked)/.test(e.cause.message)) return null
      throw e
    }
  }

  async acquire(key, ttl) {
    const patience = { retryAttempts: 0 }
    const had = Array.isArray(key)
      ? this.manager.acquireBatch(key, { ttl, ...patience })
      : this.lock(key, ttl, patience).acquire().then((handle) => [handle])
    return this.refusable(had)
  }

  async release(handles) {
    if (handles.length > 1) return (await this.manager.releaseBatch(handles)).every(Boolean)
    return this.lock(handles[0].key, handles[0].ttl).release(handles[0])
  }

  async extend(handles, ttl) {
    const all = await Promise.all(handles.map((h) => this.lock(h.key, ttl).extend(h, ttl)))
    return all.every(Boolean) ? handles : null
  }

  flushScripts() { return this.client.flush() }

  async guard(key, work) {
    const had = await this.refusable(this.lock(key, 10_000, PATIENCE).using(async (signal) => {
      await work()
      expect(!signal.aborted, 'its holder has lost it')
      return true
    }))
    return had !== null
  }

  close() { return this.client.close() }
}

async function extendedByItself(s, key) {
  const ttl = 2000 // it is extended when a fifth is left
  await s.lock(key, ttl, PATIENCE).using(async (signal) => {
    await sleep(2.5 * ttl)
    expect(!signal.aborted, `it could not be extended: ${signal.error?.message}`)
    expect(!(await s.acquire(key, ttl)), 'it is had by another after its first ttl')
  })
  const next = await s.acquire(key, ttl)
  expect(next, 'what was released is not had')
  expect(await s.release(next), 'its next holder cannot release it')
}

async function subjects(host, port) {
  const ioredis = new Redis(port, host)
  const redis = createClient({ socket: { host, port } })
  redis.on('error', (e) => console.error(e))
  await redis.connect()
  return [
    new Universal('standard', 'ioredis', new IoredisAdapter(ioredis), {
      flush: () => ioredis.script('FLUSH'),
      close: () => ioredis.quit(),
    }),
    new Universal('lean', 'node-redis', new NodeRedisAdapter(redis), {
      flush: () => redis.scriptFlush(),
      close: () => redis.close(),
    }),
  ]
}

module.exports = { subjects }
