// Clients of proxies that are restarted: restart.js HOST PORT HOST PORT
//
// ioredis's clients, with nothing set but the address, take and release locks until the input
// ends. Each key is wanted once, so each lock has to be had, and released.
'use strict'

const { setTimeout: sleep } = require('node:timers/promises')
const { IORedis } = require('./ioredis')

const CLIENTS = 50
const BETWEEN_PAIRS = 400
const PLENTY = 20_000
const LONG = 300_000

class Restarted {
  constructor(driver, addresses) {
    this.errors = new Map()
    this.pairs = 0
    this.clients = Array.from({ length: CLIENTS }, (_, i) => {
      const subject = new IORedis(driver, ...addresses[i % addresses.length])
      // That a connection has ended is told besides; without this it would be printed.
      subject.client.on('error', () => {})
      return subject
    })
    this.name = this.clients[0].name
  }

  met(what, error) {
    const text = `${what}: ${error.name}: ${error.message}`.replaceAll('\n', ' ')
    this.errors.set(text, (this.errors.get(text) ?? 0) + 1)
  }

  async lock(client, key, ttl) {
    const held = await client.acquire(key, ttl)
    if (!held) throw new Error('it is taken')
    return held
  }

  async unlock(client, held) {
    if (!(await client.release(held))) throw new Error('it is not held any more')
  }

  async begin() {
    this.long = await Promise.all(this.clients.map((c, i) =>
      this.lock(c, `restart:${this.name}:${i}:long`, LONG).catch((e) => this.met('the long lock', e))))
    console.log(`restart begins ${this.name}`)
  }

  async client(c, i, going) {
    for (let n = 0; going(); n++) {
      try {
        await this.unlock(c, await this.lock(c, `restart:${this.name}:${i}:${n}`, PLENTY))
        this.pairs++
      } catch (e) {
        this.met('lock or unlock', e)
      }
      await sleep(BETWEEN_PAIRS)
    }
    if (this.long[i]) await this.unlock(c, this.long[i]).catch((e) => this.met('release the long lock', e))
    c.client.disconnect()
  }

  async run(going) {
    await Promise.all(this.clients.map((c, i) => this.client(c, i, going)))
    for (const [what, times] of this.errors) console.log(`error ${this.name}: ${times} times ${what}`)
    console.log(`ok ${this.name}: ${this.pairs} locks by ${CLIENTS} clients`)
  }
}

async function main([host, port, otherHost, otherPort]) {
  let going = true
  process.stdin.on('end', () => { going = false }).resume()
  const all = ['ioredis5', 'ioredis6'].map((driver) => new Restarted(driver, [[host, port], [otherHost, otherPort]]))
  await Promise.all(all.map((r) => r.begin()))
  await Promise.all(all.map((r) => r.run(() => going)))
}

main(process.argv.slice(2))
