// node-redis alone: SET NX PX, and scripts defined with the client.
'use strict'

const { randomUUID } = require('node:crypto')
const { createClient, defineScript } = require('redis')
const { RELEASE, EXTEND } = require('./lua')

function script(text) {
  return defineScript({
    SCRIPT: text,
    NUMBER_OF_KEYS: 1,
    parseCommand(parser, key, ...rest) {
      parser.pushKey(key)
      parser.push(...rest.map(String))
    },
    transformReply: (reply) => reply,
  })
}

class NodeRedis {
  constructor(client, protocol) {
    this.name = `node-redis ${require('redis/package.json').version} RESP${protocol}`
    this.client = client
  }

  static async connect(host, port, protocol) {
    const client = createClient({
      socket: { host, port },
      RESP: protocol,
      scripts: { unlock: script(RELEASE), prolong: script(EXTEND) },
    })
    client.on('error', (e) => console.error(e))
    await client.connect()
    return new NodeRedis(client, protocol)
  }

  async acquire(key, ttl) {
    const token = randomUUID()
    const reply = await this.client.set(key, token, { condition: 'NX', expiration: { type: 'PX', value: ttl } })
    return reply === 'OK' ? { key, token } : null
  }

  async release({ key, token }) { return (await this.client.unlock(key, token)) === 1 }

  async extend(held, ttl) { return (await this.client.prolong(held.key, held.token, ttl)) === 1 ? held : null }

  flushScripts() { return this.client.scriptFlush() }

  async guard(key, work) {
    const held = await this.acquire(key, 10_000)
    if (!held) return false
    await work()
    if (!(await this.release(held))) throw new Error('its holder cannot release it')
    return true
  }

  close() { return this.client.close() }
}

module.exports = { subjects: (host, port) => Promise.all([2, 3].map((p) => NodeRedis.connect(host, port, p))) }
