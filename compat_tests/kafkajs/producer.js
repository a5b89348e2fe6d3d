/**
 * Producing: a producer for each call, since each call may ask for other settings.
 *
 * Called by driver.js.
 */
'use strict'

const { Partitioners } = require('kafkajs')

const { CODECS, decoded, headersObject, kafka } = require('./kafka.js')

const ACKS = { 0: 0, 1: 1, all: -1 }
// kafkajs makes one batch for each partition of what it is given at once, however large; a program must divide.
const BATCH_BYTES = 500_000
const RECORD_OVERHEAD_BYTES = 100

/** Partition as kafkajs does, and note where each message goes: its answers only tell of whole batches. */
function notingPartitioner(chosen) {
  return () => {
    const partition = Partitioners.DefaultPartitioner()
    return given => {
      const number = partition(given)
      chosen.set(given.message, number)
      return number
    }
  }
}

function messageOf(record, partition) {
  const message = { key: decoded(record.key), value: decoded(record.value) }
  if (record.headers.length > 0) {
    message.headers = headersObject(record.headers)
  }
  if (record.timestamp_ms !== null) {
    message.timestamp = String(record.timestamp_ms)
  }
  if (partition !== null) {
    message.partition = partition
  }
  return message
}

function* batches(messages) {
  let batch = []
  let bytes = 0
  for (const message of messages) {
    const size = (message.key?.length ?? 0) + (message.value?.length ?? 0) + RECORD_OVERHEAD_BYTES
    if (batch.length > 0 && bytes + size > BATCH_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(message)
    bytes += size
  }
  if (batch.length > 0) {
    yield batch
  }
}

/** Give the place of each message: a batch's answer has the first offset, the rest count up. */
function places(batch, answers, chosen) {
  const next = new Map(answers.map(({ partition, baseOffset }) => [partition, Number(baseOffset)]))
  return batch.map(message => {
    const partition = chosen.get(message)
    const offset = next.get(partition) ?? -1
    next.set(partition, offset + 1)
    return [partition, offset]
  })
}

async function produce({ bootstrap, topic, records, codec, acks, idempotent, partition }) {
  const chosen = new Map()
  const producer = kafka(bootstrap).producer({ createPartitioner: notingPartitioner(chosen), idempotent })
  await producer.connect()
  try {
    const found = []
    for (const messages of batches(records.map(record => messageOf(record, partition)))) {
      const answers = await producer.send({ topic, messages, acks: ACKS[acks], compression: CODECS[codec] })
      found.push(...(acks === '0' ? [] : places(messages, answers, chosen)))
    }
    return found
  } finally {
    await producer.disconnect()
  }
}

module.exports = { produce }
