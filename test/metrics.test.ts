import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { COUNTERS, createMetrics, HISTOGRAMS } from '../src/base/metrics.ts'
import { anyText } from './helpers/texts.ts'

type Sample = { name: string; labels: Record<string, string>; value: number }
type Family = { name: string; type: string; help: string; samples: Sample[] }

const bucketsOf = ({ samples }: Family, labels: Record<string, string> = {}): [le: string, count: number][] =>
  samples
    .filter(({ name, labels: { le, ...rest } }) => name.endsWith('_bucket') && le !== undefined && Bun.deepEquals(rest, labels))
    .map(({ labels, value }) => [labels.le!, value])

const sampleOf = ({ samples }: Family, name: string, labels: Record<string, string> = {}) =>
  samples.find(sample => sample.name === name && Bun.deepEquals(sample.labels, labels))?.value

describe('counters', () => {
  test('counters add up by their labels', async () => {
    const metrics = createMetrics()
    const labels = { method: 'GET', route: '/v1/verifications/:id', status: '200' }
    metrics.count('vidimus_http_requests_total', labels)
    metrics.count('vidimus_http_requests_total', labels)
    metrics.count('vidimus_http_requests_total', { ...labels, status: '404' })
    metrics.count('vidimus_verifications_total', { event: 'expired' }, 7)
    metrics.count('vidimus_verifications_total', { event: 'expired' }, 0)
    const [requests, verifications] = parsePrometheus(await metrics.render())
    expect(requests).toEqual({
      name: 'vidimus_http_requests_total',
      type: 'counter',
      help: COUNTERS.vidimus_http_requests_total,
      samples: [
        { name: 'vidimus_http_requests_total', labels, value: 2 },
        { name: 'vidimus_http_requests_total', labels: { ...labels, status: '404' }, value: 1 },
      ],
    })
    expect(sampleOf(verifications!, 'vidimus_verifications_total', { event: 'expired' })).toBe(7)
  })

  test('counters need no labels', async () => {
    const metrics = createMetrics()
    metrics.count('vidimus_rate_limited_total')
    expect(parsePrometheus(await metrics.render())[0]?.samples).toEqual([
      { name: 'vidimus_rate_limited_total', labels: {}, value: 1 },
    ])
  })
})

describe('histograms', () => {
  test('a value counts in every bucket whose limit it does not exceed, the limit included', async () => {
    const metrics = createMetrics()
    for (const size of [1, 2, 3, 256, 257]) metrics.observe('vidimus_commit_group_size', {}, size)
    const [family] = parsePrometheus(await metrics.render())
    expect(bucketsOf(family!)).toEqual([
      ['1', 1],
      ['2', 2],
      ['4', 3],
      ['8', 3],
      ['16', 3],
      ['32', 3],
      ['64', 3],
      ['128', 3],
      ['256', 4],
      ['+Inf', 5],
    ])
    expect(sampleOf(family!, 'vidimus_commit_group_size_sum')).toBe(519)
    expect(sampleOf(family!, 'vidimus_commit_group_size_count')).toBe(5)
  })

  test('each set of labels has its own buckets, sum and count', async () => {
    const metrics = createMetrics()
    metrics.observe('vidimus_http_request_seconds', { route: '/a' }, 0.002)
    metrics.observe('vidimus_http_request_seconds', { route: '/b' }, 20)
    const [family] = parsePrometheus(await metrics.render())
    expect(sampleOf(family!, 'vidimus_http_request_seconds_sum', { route: '/a' })).toBe(0.002)
    expect(bucketsOf(family!, { route: '/a' }).map(([, count]) => count)).toEqual([0, 0, ...new Array(13).fill(1)])
    expect(bucketsOf(family!, { route: '/b' }).map(([, count]) => count)).toEqual([...new Array(14).fill(0), 1])
  })

  test('histogram buckets equal a plain count, never decrease, and end with the total, for any values', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 50 }), async values => {
        const metrics = createMetrics()
        for (const value of values) metrics.observe('vidimus_http_request_seconds', { route: '/a' }, value)
        const [family] = parsePrometheus(await metrics.render())
        const limits = [...HISTOGRAMS.vidimus_http_request_seconds.buckets, Number.POSITIVE_INFINITY]
        expect(bucketsOf(family!, { route: '/a' }).map(([, count]) => count)).toEqual(
          limits.map(limit => values.filter(value => value <= limit).length),
        )
        expect(sampleOf(family!, 'vidimus_http_request_seconds_sum', { route: '/a' })).toBe(values.reduce((a, b) => a + b, 0))
      }),
    )
  })

  test('histogram limits are in rising order, as the format requires', () => {
    for (const { buckets } of Object.values(HISTOGRAMS)) expect([...buckets]).toEqual(buckets.toSorted((a, b) => a - b))
  })
})

describe('gauges', () => {
  test('gauges are read at each request of the page', async () => {
    const metrics = createMetrics()
    let pending = 3
    metrics.gauge('vidimus_verifications_pending', 'Sessions waiting for a wallet.', async () => pending)
    const read = async () => parsePrometheus(await metrics.render())
    expect(await read()).toEqual([
      {
        name: 'vidimus_verifications_pending',
        type: 'gauge',
        help: 'Sessions waiting for a wallet.',
        samples: [{ name: 'vidimus_verifications_pending', labels: {}, value: 3 }],
      },
    ])
    pending = 4
    expect((await read())[0]?.samples[0]?.value).toBe(4)
  })

  test('a gauge that fails is left out, and the others are shown', async () => {
    const metrics = createMetrics()
    metrics.gauge('vidimus_write_queue', 'Writes that wait.', () => {
      throw new Error('no such file')
    })
    metrics.gauge('vidimus_verifications_pending', 'Sessions waiting for a wallet.', async () => 3)
    expect(parsePrometheus(await metrics.render()).map(({ name }) => name)).toEqual(['vidimus_verifications_pending'])
  })
})

test('no label value can add a line or another label', async () => {
  await fc.assert(
    fc.asyncProperty(anyText(), async route => {
      const metrics = createMetrics()
      metrics.count('vidimus_http_requests_total', { route, status: '200' })
      metrics.observe('vidimus_http_request_seconds', { route }, 1)
      const families = parsePrometheus(await metrics.render())
      expect(families.map(({ samples }) => samples.length)).toEqual([1, 17])
      expect(Object.keys(families[0]!.samples[0]!.labels)).toEqual(['route', 'status'])
    }),
  )
})

test('an ordinary label value is printed as it is', async () => {
  const metrics = createMetrics()
  metrics.count('vidimus_http_requests_total', { route: '/v1/verifications/:id', method: 'GET' })
  expect(await metrics.render()).toContain('{route="/v1/verifications/:id",method="GET"} 1\n')
})

test('names and help texts are valid in the format', () => {
  for (const [name, help] of [
    ...Object.entries(COUNTERS),
    ...Object.entries(HISTOGRAMS).map(([name, { help }]) => [name, help] as const),
  ]) {
    expect(name).toMatch(/^vidimus_[a-z_]+$/)
    expect(help).not.toMatch(/[\\\n]/)
  }
  for (const name of Object.keys(COUNTERS)) expect(name).toEndWith('_total')
})

/** Parses text format 0.0.4 by its grammar, and refuses what a scraper would refuse. */
function parsePrometheus(page: string): Family[] {
  if (!page.endsWith('\n')) throw new Error('the page must end with a line feed')
  const families: Family[] = []
  const seen = new Set<string>()
  for (const line of page.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line)
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)$/.exec(line)
    if (help) {
      if (families.some(({ name }) => name === help[1])) throw new Error(`family ${help[1]} appears twice`)
      families.push({ name: help[1]!, type: 'untyped', help: help[2]!, samples: [] })
    } else if (type) {
      const family = families.at(-1)
      if (family?.name !== type[1] || family?.samples.length) throw new Error(`TYPE of ${type[1]} is out of place`)
      family!.type = type[2]!
    } else {
      const sample = parseSample(line)
      const family = families.at(-1)
      const names = family?.type === 'histogram' ? ['_bucket', '_sum', '_count'].map(end => family.name + end) : [family?.name]
      if (!names.includes(sample.name)) throw new Error(`${line} is not of family ${family?.name}`)
      const identity = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`
      if (seen.has(identity)) throw new Error(`${identity} appears twice`)
      seen.add(identity)
      family!.samples.push(sample)
    }
  }
  return families
}

function parseSample(line: string): Sample {
  const [, name, labels = '', value] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s.exec(line) ?? []
  if (!name || !/^[+-]?(\d+(\.\d+)?(e[+-]?\d+)?|Inf)$|^NaN$/.test(value ?? '')) throw new Error(`not a sample: ${line}`)
  return { name, labels: parseLabels(labels), value: Number(value?.replace('Inf', 'Infinity')) }
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  let rest = text
  while (rest) {
    const [whole, name, value] = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/.exec(rest) ?? []
    if (!whole || !name || name in labels) throw new Error(`bad labels: ${rest}`)
    labels[name] = value!.replace(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char))
    rest = rest.slice(whole.length)
  }
  return labels
}
