/**
 * One consumer: kafkajs pushes batches, a story polls them.
 *
 * Called by driver.js. kafkajs only reads as a member of a group. `assign` is done as its documentation tells a
 * program to choose offsets: join (a group of its own where none is given), seek, and pause what is not wanted.
 * A batch waits in `eachBatch` until a poll has taken it; only then is it resolved, so what nobody was given is
 * neither committed nor passed over.
 */
'use strict'

const { randomUUID } = require('node:crypto')

const { PartitionAssigners } = require('kafkajs')

const { encoded, headersList, kafka } = require('./kafka.js')

const keyOf = (topic, partition) => `${topic}/${partition}`

/** A batch that waits to be polled. */
class WaitingBatch {
  taken = false
  #settle
  settled = new Promise(resolve => (this.#settle = resolve))

  constructor(batch) {
    this.topic = batch.topic
    this.partition = batch.partition
    this.messages = batch.messages
  }

  take() {
    this.taken = true
    this.#settle()
    return this.messages.map(message => ({
      topic: this.topic,
      partition: this.partition,
      offset: Number(message.offset),
      key: encoded(message.key),
      value: encoded(message.value),
      headers: headersList(message.headers),
      timestamp_ms: Number(message.timestamp),
    }))
  }

  refuse() {
    this.#settle()
  }

  async settledWithin(milliseconds) {
    let timer
    const late = new Promise(resolve => (timer = setTimeout(resolve, milliseconds)))
    await Promise.race([this.settled, late])
    clearTimeout(timer)
  }
}

class GroupConsumer {
  #settings
  #admin
  #consumer = null
  #held = [] // [topic, partition]
  #assigned = null // key -> the offset to go on from, after `assign`
  #paused = new Set()
  #waiting = []
  #wake = () => {}
  #failure = null
  #rebalances = []

  constructor(settings, admin) {
    this.#settings = settings
    this.#admin = admin
  }

  async subscribe({ topics }) {
    await this.#run(topics)
  }

  async assign({ topic, starts }) {
    this.#assigned = new Map()
    for (const [partition, start] of starts) {
      this.#assigned.set(keyOf(topic, partition), await this.#fixed(topic, partition, start))
    }
    await this.#run([topic], { untilJoined: true })
  }

  /** Give the offset that a start means now. */
  async #fixed(topic, partition, start) {
    if (typeof start === 'number') {
      return start
    }
    const { low, high } = await this.#admin.bounds(topic, partition)
    return start === 'beginning' ? low : high
  }

  async #run(topics, { untilJoined = false } = {}) {
    const { bootstrap, group, reset, auto_commit: autoCommit } = this.#settings
    const requestTimeout = this.#settings.request_timeout_ms ?? undefined
    this.#consumer = kafka(bootstrap, { requestTimeout }).consumer({
      groupId: group ?? `nobody-${randomUUID()}`,
      partitionAssigners: [PartitionAssigners.roundRobin],
      sessionTimeout: this.#settings.session_timeout_ms,
      heartbeatInterval: this.#settings.heartbeat_interval_ms,
      rebalanceTimeout: this.#settings.max_poll_interval_ms,
      metadataMaxAge: this.#settings.metadata_max_age_ms,
      maxWaitTimeInMs: this.#settings.fetch_wait_ms,
    })
    const joined = new Promise(resolve => this.#watch(resolve))
    await this.#consumer.connect()
    await this.#consumer.subscribe({ topics, fromBeginning: reset === 'earliest' })
    const running = this.#consumer.run({
      autoCommit: autoCommit && this.#assigned === null,
      eachBatchAutoResolve: false,
      eachBatch: payload => this.#eachBatch(payload),
    })
    running.catch(error => this.#fail(error))
    if (untilJoined) {
      await joined
    }
  }

  #watch(joined) {
    const { GROUP_JOIN, REBALANCING, CRASH } = this.#consumer.events
    this.#consumer.on(GROUP_JOIN, ({ payload }) => {
      this.#held = Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
        partitions.map(partition => [topic, partition])
      )
      this.#note('assigned', this.#held)
      if (this.#assigned !== null) {
        this.#goOn()
      }
      joined()
    })
    this.#consumer.on(REBALANCING, () => this.#giveUp())
    this.#consumer.on(CRASH, ({ payload }) => {
      this.#giveUp()
      if (!payload.restart) {
        this.#fail(payload.error)
      }
    })
  }

  #giveUp() {
    this.#note('revoked', this.#held)
    this.#held = []
  }

  #note(kind, partitions) {
    this.#rebalances.push({ kind, partitions, at_ms: Date.now() })
  }

  async rebalances() {
    return this.#rebalances
  }

  /** After joining, go on reading what was assigned where a poll left off. */
  #goOn() {
    for (const [topic, partition] of this.#held) {
      const offset = this.#assigned.get(keyOf(topic, partition))
      if (offset === undefined) {
        this.#consumer.pause([{ topic, partitions: [partition] }])
      } else {
        this.#consumer.seek({ topic, partition, offset: String(offset) })
      }
    }
  }

  #fail(error) {
    this.#failure = error
    this.#wake()
  }

  async #eachBatch({ batch, heartbeat, resolveOffset, isRunning, isStale }) {
    if (this.#paused.has(keyOf(batch.topic, batch.partition))) {
      return
    }
    const waiting = new WaitingBatch(batch)
    this.#waiting.push(waiting)
    this.#wake()
    try {
      while (isRunning() && !isStale() && !(await this.#settled(waiting))) {
        await heartbeat()
      }
    } finally {
      this.#waiting = this.#waiting.filter(other => other !== waiting)
      if (waiting.taken) {
        resolveOffset(batch.messages.at(-1).offset)
      }
    }
  }

  /** Tell whether a batch was taken or refused, after at most one heartbeat interval. */
  async #settled(waiting) {
    await waiting.settledWithin(this.#settings.heartbeat_interval_ms)
    return !this.#waiting.includes(waiting)
  }

  async assignment() {
    return this.#assigned === null
      ? this.#held
      : this.#held.filter(([topic, partition]) => this.#assigned.has(keyOf(topic, partition)))
  }

  async poll({ timeout_ms: timeoutMs }) {
    if (this.#waiting.length === 0 && this.#failure === null) {
      await new Promise(resolve => {
        const timer = setTimeout(resolve, timeoutMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = () => {}
    }
    if (this.#failure !== null) {
      throw this.#failure
    }
    return this.#waiting.splice(0).flatMap(waiting => {
      const records = waiting.take()
      const key = keyOf(waiting.topic, waiting.partition)
      if (this.#assigned?.has(key)) {
        this.#assigned.set(key, records.at(-1).offset + 1)
      }
      return records
    })
  }

  async seek({ topic, partition, start }) {
    const offset = await this.#fixed(topic, partition, start)
    this.#assigned?.set(keyOf(topic, partition), offset)
    this.#consumer.seek({ topic, partition, offset: String(offset) })
    this.#refuse(keyOf(topic, partition))
  }

  async pause({ partitions }) {
    for (const [topic, partition] of partitions) {
      this.#consumer.pause([{ topic, partitions: [partition] }])
      this.#paused.add(keyOf(topic, partition))
      this.#refuse(keyOf(topic, partition))
    }
  }

  async resume({ partitions }) {
    for (const [topic, partition] of partitions) {
      this.#paused.delete(keyOf(topic, partition))
      this.#consumer.resume([{ topic, partitions: [partition] }])
    }
  }

  /** Give back unread what waits from one partition: kafkajs fetches it again. */
  #refuse(key) {
    const [refused, kept] = [[], []]
    for (const waiting of this.#waiting) {
      const isMeant = key === undefined || keyOf(waiting.topic, waiting.partition) === key
      ;(isMeant ? refused : kept).push(waiting)
    }
    this.#waiting = kept
    refused.forEach(waiting => waiting.refuse())
  }

  async commit({ offsets }) {
    await this.#consumer.commitOffsets(
      offsets.map(([topic, partition, offset]) => ({ topic, partition, offset: String(offset) }))
    )
  }

  async committed({ topic, partition }) {
    return this.#admin.committed(this.#settings.group, topic, partition)
  }

  async beginning_offset({ topic, partition }) {
    return (await this.#admin.bounds(topic, partition)).low
  }

  async end_offset({ topic, partition }) {
    return (await this.#admin.bounds(topic, partition)).high
  }

  async offset_for_time({ topic, partition, timestamp_ms: timestampMs }) {
    return this.#admin.offsetForTime(topic, partition, timestampMs)
  }

  async close() {
    if (this.#consumer === null) {
      return
    }
    const closing = this.#consumer.disconnect()
    this.#refuse()
    if (this.#settings.group === null) {
      // kafkajs waits for a fetch under way, be it long; nobody else is in a group that was made up.
      closing.catch(error => process.stderr.write(`closing: ${error.message}\n`))
    } else {
      await closing
    }
  }
}

module.exports = { GroupConsumer }
