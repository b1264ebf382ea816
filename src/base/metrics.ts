// Prometheus text format 0.0.4. Labels are route templates, methods and statuses: a closed set, so that clients cannot grow it.

type Labels = Record<string, string>

type Read = () => number | Promise<number | [labels: Labels, value: number][]>

export type Metrics = {
  count(name: CounterName, labels?: Labels, by?: number): void
  observe(name: HistogramName, labels: Labels, value: number): void
  /** `read` runs when /metrics is requested. A name that ends in `_total` is a counter. A list is one value for each of its labels. */
  gauge(name: string, help: string, read: Read, labels?: Labels): void
  render(): Promise<string>
}

export const COUNTERS = {
  vidimus_http_requests_total: 'Responses by method, route and status.',
  vidimus_http_refusals_total: 'Responses other than 2xx, by error code.',
  vidimus_verifications_total: 'Verifications since the start, by event and environment.',
  vidimus_verification_failures_total: 'Verifications that failed, by error code and environment.',
  vidimus_status_list_fetches_total: 'Status lists fetched from issuers, by outcome; cached lists are not fetched.',
  vidimus_crl_fetches_total: "Revocation lists fetched for issuers' certificates, by outcome; cached lists are not fetched.",
  vidimus_trust_list_refreshes_total: 'Looks at signed lists of issuers, by outcome.',
  vidimus_dc_requests_total: 'Requests made for the wallet call of a browser, by protocol.',
  vidimus_dc_answers_total: 'Answers that came through the wallet call of a browser, by protocol and outcome.',
  vidimus_oidc_logins_total: 'Log-ins of OpenID clients, by environment and outcome.',
  vidimus_oidc_refusals_total: 'Refused requests to the OpenID provider, by endpoint and error.',
  vidimus_in_person_requests_total: 'Requests made for phones in person, by the version that was sent.',
  vidimus_in_person_answers_total: 'Answers of phones in person, by outcome.',
  vidimus_in_person_failures_total: 'Failures of the transport between a till and a phone, by code.',
  vidimus_backups_total: 'Scheduled backups since the start, by outcome.',
  vidimus_mails_total: 'Mails, by outcome.',
  vidimus_rate_limited_total: 'Requests refused by a rate limit, by policy.',
  vidimus_claims_taken_over_total: 'Idempotency keys taken over from a request whose node or time ended.',
  vidimus_db_retries_total: 'Transactions on PostgreSQL that ran again, by the reason.',
  vidimus_webhook_attempts_total: 'Attempts to deliver a webhook, by outcome.',
  vidimus_webhook_deliveries_total: 'Webhooks delivered or given up, by final status.',
} as const

export const HISTOGRAMS = {
  vidimus_http_request_seconds: {
    help: 'Time from request to response.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  vidimus_webhook_attempt_seconds: {
    help: 'Time of one attempt to deliver a webhook.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  },
  vidimus_commit_seconds: {
    help: 'Time of one durable commit, with the writes that shared it.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
  vidimus_db_statement_seconds: {
    help: 'Time of one statement on PostgreSQL, with its wait for the connection.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
  vidimus_event_loop_lag_seconds: {
    help: 'Delay of a timer that is due every tenth of a second; requests wait as long.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
  vidimus_commit_group_size: { help: 'Writes that shared one durable commit.', buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256] },
} as const

type CounterName = keyof typeof COUNTERS
type HistogramName = keyof typeof HISTOGRAMS

type Count = { labels: string; value: number }
type Series = { labels: string; buckets: number[]; sum: number; count: number }

export function createMetrics(): Metrics {
  const counters = new Map<string, Map<string, Count>>()
  const histograms = new Map<string, Map<string, Series>>()
  const gauges = new Map<string, { help: string; read: Read; labels: Labels }>()

  return {
    count(name, labels = NONE, by = 1) {
      const series = within(counters, name, () => new Map<string, Count>())
      within(series, seriesKey(labels), () => ({ labels: labelText(labels), value: 0 })).value += by
    },
    observe(name, labels, value) {
      const limits = HISTOGRAMS[name].buckets
      const series = within(
        within(histograms, name, () => new Map<string, Series>()),
        seriesKey(labels),
        () => ({ labels: labelText(labels), buckets: limits.map(() => 0), sum: 0, count: 0 }),
      )
      const bucket = limits.findIndex(limit => value <= limit)
      if (bucket >= 0) series.buckets[bucket]!++
      series.sum += value
      series.count++
    },
    gauge(name, help, read, labels = NONE) {
      gauges.set(name, { help, read, labels })
    },
    async render() {
      const lines: string[] = []
      for (const [name, series] of counters) {
        lines.push(`# HELP ${name} ${COUNTERS[name as CounterName]}`, `# TYPE ${name} counter`)
        for (const { labels, value } of series.values()) lines.push(`${name}${braces(labels)} ${value}`)
      }
      for (const [name, series] of histograms) {
        lines.push(`# HELP ${name} ${HISTOGRAMS[name as HistogramName].help}`, `# TYPE ${name} histogram`)
        for (const each of series.values()) lines.push(...histogramLines(name as HistogramName, each))
      }
      for (const [name, { help, read, labels }] of gauges) {
        // A gauge that fails is left out; the others are shown.
        const value = await Promise.try(read).catch(() => undefined)
        if (value === undefined) continue
        lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`)
        const series: [Labels, number][] = typeof value === 'number' ? [[labels, value]] : value
        lines.push(...series.map(([labels, value]) => `${name}${braces(labelText(labels))} ${numberText(value)}`))
      }
      return `${lines.join('\n')}\n`
    },
  }
}

function within<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key)
  if (known) return known
  const made = make()
  map.set(key, made)
  return made
}

const NONE: Labels = {}

/** Called several times per request, so kept small. */
function seriesKey(labels: Labels): string {
  let key = ''
  for (const name in labels) key += `${name}=${labels[name]}\n`
  return key
}

const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, '_')}"`)
    .join(',')

/** The format spells it `+Inf`. */
const numberText = (value: number): string => (value === Number.POSITIVE_INFINITY ? '+Inf' : String(value))

const braces = (labels: string): string => (labels ? `{${labels}}` : '')

function histogramLines(name: HistogramName, { labels, buckets, sum, count }: Series): string[] {
  let below = 0
  const lines = HISTOGRAMS[name].buckets.map((limit, i) => {
    below += buckets[i] ?? 0
    return `${name}_bucket${braces([labels, `le="${limit}"`].filter(Boolean).join(','))} ${below}`
  })
  lines.push(`${name}_bucket${braces([labels, 'le="+Inf"'].filter(Boolean).join(','))} ${count}`)
  return [...lines, `${name}_sum${braces(labels)} ${sum}`, `${name}_count${braces(labels)} ${count}`]
}
