/**
 * The kafkajs driver: requests a line on standard input, replies a line on standard output.
 *
 * Run by compat_tests/clients/kafkajs_client.py. The protocol is told in compat_tests/clients/DRIVERS.md.
 */
'use strict'

const readline = require('node:readline')

const { Administration } = require('./admin.js')
const { GroupConsumer } = require('./consumer.js')
const { versions } = require('./kafka.js')
const { produce } = require('./producer.js')

// How long any call may wait for a broker.
const DEADLINE_MS = 20_000

const consumers = new Map()
const admins = new Map()
let opened = 0

function adminOf(bootstrap) {
  if (!admins.has(bootstrap)) {
    admins.set(bootstrap, new Administration(bootstrap))
  }
  return admins.get(bootstrap)
}

const METHODS = {
  version: async () => versions(),
  produce,
  open_consumer: async request => {
    opened += 1
    consumers.set(opened, new GroupConsumer(request, adminOf(request.bootstrap)))
    return opened
  },
  close_consumer: async ({ consumer }) => {
    const open = consumers.get(consumer)
    consumers.delete(consumer)
    await open?.close()
  },
  close_client: async ({ bootstrap }) => {
    const admin = admins.get(bootstrap)
    admins.delete(bootstrap)
    await admin?.close()
  },
}
const CONSUMER_METHODS = ['assign', 'subscribe', 'assignment', 'poll', 'seek', 'pause', 'resume', 'commit']
CONSUMER_METHODS.push('rebalances', 'committed', 'beginning_offset', 'end_offset', 'offset_for_time')
const ADMIN_METHODS = ['create_topic', 'delete_topic', 'list_topics', 'describe_topic', 'create_partitions']
ADMIN_METHODS.push('describe_configs', 'alter_configs', 'list_groups', 'describe_group')
ADMIN_METHODS.push('delete_group', 'group_offsets')

async function call(request) {
  const { method } = request
  if (method in METHODS) {
    return METHODS[method](request)
  }
  if (CONSUMER_METHODS.includes(method)) {
    const consumer = consumers.get(request.consumer)
    if (consumer === undefined) {
      throw new Error(`no consumer ${request.consumer} is open`)
    }
    return consumer[method](request)
  }
  if (ADMIN_METHODS.includes(method)) {
    return adminOf(request.bootstrap)[method](request)
  }
  throw new Error(`kafkajs has no ${method}`)
}

async function withinDeadline(work) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done in ${DEADLINE_MS} ms`)), DEADLINE_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Give the protocol's error code inside an error, which kafkajs wraps in what became of its retries. */
function codeOf(error) {
  for (let inner = error; inner; inner = inner.cause) {
    // Only what comes out of a response has a number here; Node's own errors have a word.
    if (typeof inner.code === 'number') {
      return inner.code
    }
    for (const one of inner.errors ?? []) {
      const code = codeOf(one)
      if (code !== null) {
        return code
      }
    }
  }
  return null
}

async function reply(line) {
  let id = null
  try {
    const request = JSON.parse(line)
    id = request.id
    return { id, ok: (await withinDeadline(call(request))) ?? null }
  } catch (error) {
    return { id, error: { code: codeOf(error), message: `${error.name}: ${error.message}` } }
  }
}

async function main() {
  // A rejection nobody waits for is one of kafkajs's background tasks; it belongs into the log, not to a story.
  process.on('unhandledRejection', reason => process.stderr.write(`unhandled: ${reason?.stack ?? reason}\n`))
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    process.stdout.write(`${JSON.stringify(await reply(line))}\n`)
  }
  process.exit(0)
}

main()
