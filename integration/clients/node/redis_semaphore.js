// redis-semaphore's Mutex.
'use strict'

const Redis = require('ioredis6')
const { Mutex } = require('redis-semaphore')

class Semaphore {
  name = `redis-semaphore ${require('redis-semaphore/package.json').version} Mutex`

  constructor(host, port) {
    this.client = new Redis(port, host)
  }

  async acquire(key, ttl) {
    // Without refreshing, or it would never expire while this process lives.
    const mutex = new Mutex(this.client, key, { lockTimeout: ttl, acquireAttemptsLimit: 1, refreshInterval: 0 })
    return (await mutex.tryAcquire()) ? { key, mutex } : null
  }

  release({ mutex }) { return mutex.release() }

  // A lock that is taken over by its identifier is refreshed first.
  async extend({ key, mutex }, ttl) {
    const next = new Mutex(this.client, key, {
      lockTimeout: ttl,
      identifier: mutex.identifier,
      acquiredExternally: true,
    })
    return (await next.tryAcquire()) ? { key, mutex: next } : null
  }

  flushScripts() { return this.client.script('FLUSH') }

  async guard(key, work) {
    const mutex = new Mutex(this.client, key)
    await mutex.acquire()
    try {
      await work()
    } finally {
      await mutex.release()
    }
    return true
  }

  close() { return this.client.quit() }
}

module.exports = { subjects: (host, port) => [new Semaphore(host, port)] }
