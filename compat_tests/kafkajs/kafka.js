/**
 * kafkajs with its settings, its codecs, and values in the forms of DRIVERS.md.
 *
 * Called by producer.js, consumer.js and admin.js. kafkajs brings gzip alone; its documentation tells how a
 * program registers a codec for the others.
 */
'use strict'

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = require('kafkajs')
const SnappyCodec = require('kafkajs-snappy')
const lz4 = require('lz4-napi')
const { ZstdCodec } = require('zstd-codec')

const { dependencies } = require('./package.json') // pinned, so these are the versions installed

const ZSTD_LEVEL = 3

const zstd = new Promise(resolve => ZstdCodec.run(codec => resolve(new codec.Streaming())))

CompressionCodecs[CompressionTypes.Snappy] = SnappyCodec
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async encoder => lz4.compressFrame(encoder.buffer),
  decompress: async buffer => lz4.decompressFrame(buffer),
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => Buffer.from((await zstd).compress(encoder.buffer, ZSTD_LEVEL)),
  decompress: async buffer => Buffer.from((await zstd).decompress(buffer)),
})

const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

/** Log to standard error: standard output is for replies. */
const logCreator =
  () =>
  ({ namespace, label, log: { message, ...details } }) =>
    process.stderr.write(`${label} [${namespace}] ${message} ${JSON.stringify(details)}\n`)

/** Give a kafkajs client; retries begin sooner than kafkajs's 300 ms, since the broker is next door. */
function kafka(bootstrap, settings = {}) {
  return new Kafka({
    ...settings,
    clientId: 'compat-tests',
    brokers: [bootstrap],
    logLevel: logLevel.WARN,
    logCreator,
    retry: { initialRetryTime: 50, retries: 8 },
  })
}

function versions() {
  const libraries = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`)
  return [...libraries, `Node.js ${process.version}`].join(', ')
}

const encoded = bytes => (bytes === null || bytes === undefined ? null : bytes.toString('base64'))
const decoded = text => (text === null ? null : Buffer.from(text, 'base64'))

/** Give headers as kafkajs takes them: an object, in which a repeated name has a list. */
function headersObject(pairs) {
  const headers = {}
  for (const [name, value] of pairs) {
    const before = headers[name]
    const bytes = decoded(value)
    headers[name] = before === undefined ? bytes : [before, bytes].flat()
  }
  return headers
}

const headersList = headers =>
  Object.entries(headers ?? {}).flatMap(([name, values]) =>
    [values].flat().map(value => [name, encoded(value)])
  )

module.exports = { CODECS, decoded, encoded, headersList, headersObject, kafka, versions }
