/**
 * Administration, and offsets asked for by consumers, through one kafkajs admin for each broker.
 *
 * Called by driver.js and consumer.js.
 */
'use strict'

const { ConfigResourceTypes } = require('kafkajs')

const { kafka } = require('./kafka.js')

const TOPIC_ALREADY_EXISTS = 36
const UNKNOWN_TOPIC_OR_PARTITION = 3

function refusal(code, message) {
  return Object.assign(new Error(message), { code })
}

class Administration {
  #bootstrap
  #connected = null

  constructor(bootstrap) {
    this.#bootstrap = bootstrap
  }

  #admin() {
    if (this.#connected === null) {
      const admin = kafka(this.#bootstrap).admin({ retry: { initialRetryTime: 50, retries: 4 } })
      this.#connected = admin.connect().then(() => admin)
    }
    return this.#connected
  }

  async close() {
    if (this.#connected !== null) {
      await (await this.#connected).disconnect()
    }
  }

  async create_topic({ name, partition_count: numPartitions, configs }) {
    const configEntries = Object.entries(configs).map(([key, value]) => ({ name: key, value }))
    const topics = [{ topic: name, numPartitions, replicationFactor: 1, configEntries }]
    // kafkajs answers false for this one error, and throws every other.
    if (!(await (await this.#admin()).createTopics({ topics }))) {
      throw refusal(TOPIC_ALREADY_EXISTS, `topic ${name} exists`)
    }
  }

  async delete_topic({ name }) {
    await (await this.#admin()).deleteTopics({ topics: [name] })
  }

  async list_topics() {
    return (await this.#admin()).listTopics()
  }

  async describe_topic({ name }) {
    const { topics } = await (await this.#admin()).fetchTopicMetadata({ topics: [name] })
    return topics[0].partitions.filter(({ leader }) => leader >= 0).map(({ partitionId }) => partitionId)
  }

  async create_partitions({ name, total_count: count }) {
    await (await this.#admin()).createPartitions({ topicPartitions: [{ topic: name, count }] })
  }

  async describe_configs({ topic }) {
    const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic }]
    const answer = await (await this.#admin()).describeConfigs({ includeSynonyms: false, resources })
    return Object.fromEntries(
      answer.resources[0].configEntries.map(({ configName, configValue }) => [configName, configValue])
    )
  }

  /** By AlterConfigs, which puts the topic's other configs back: kafkajs has no other. */
  async alter_configs({ topic, configs }) {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }]
    await (await this.#admin()).alterConfigs({ validateOnly: false, resources })
  }

  async list_groups() {
    const { groups } = await (await this.#admin()).listGroups()
    return groups.map(({ groupId }) => groupId)
  }

  async describe_group({ group }) {
    const { groups } = await (await this.#admin()).describeGroups([group])
    const [{ errorCode, state, members }] = groups
    if (errorCode) {
      throw refusal(errorCode, `group ${group}`)
    }
    return { state, member_count: members.length }
  }

  async delete_group({ group }) {
    try {
      await (await this.#admin()).deleteGroups([group])
    } catch (error) {
      throw error.groups?.length ? refusal(error.groups[0].errorCode, error.groups[0].error.message) : error
    }
  }

  async group_offsets({ group }) {
    const answers = await (await this.#admin()).fetchOffsets({ groupId: group })
    return answers.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset }) => [topic, partition, Number(offset)])
    )
  }

  /** Give the first offset (`low`) and the end (`high`) of a partition. */
  async bounds(topic, partition) {
    const found = (await (await this.#admin()).fetchTopicOffsets(topic)).find(one => one.partition === partition)
    if (found === undefined) {
      throw refusal(UNKNOWN_TOPIC_OR_PARTITION, `${topic}-${partition}`)
    }
    return { low: Number(found.low), high: Number(found.high) }
  }

  /** Give the first offset at or after a time, or null; kafkajs itself gives the end where there is none. */
  async offsetForTime(topic, partition, timestampMs) {
    const { high } = await this.bounds(topic, partition)
    const answers = await (await this.#admin()).fetchTopicOffsetsByTimestamp(topic, timestampMs)
    const offset = Number(answers.find(one => one.partition === partition).offset)
    return offset >= high ? null : offset
  }

  async committed(groupId, topic, partition) {
    const answers = await (await this.#admin()).fetchOffsets({ groupId, topics: [topic] })
    const offset = Number(answers[0].partitions.find(one => one.partition === partition).offset)
    return offset < 0 ? null : offset
  }
}

module.exports = { Administration }
