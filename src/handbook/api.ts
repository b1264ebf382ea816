// The API reference, from the OpenAPI document: operations by tag, events, objects. Examples are real ones, recorded by
// scripts/build/examples.ts.
import { addressInHandbook } from '../http/errors.ts'
import type { OpenApi } from '../http/openapi.ts'
import examples from './examples.json' with { type: 'json' }
import { type Call, LANGUAGE_NAMES, LANGUAGES, type Language } from './samples.ts'

type Schema = Record<string, unknown>
type Content = Record<string, { schema: Schema; examples?: Record<string, { value: { error: { code: string } } }> }>
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema }
type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: object[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { description: string; content?: Content }>
}

/** Requests and their responses, by operation and situation. */
export type Examples = Record<string, Record<string, { request?: unknown; status: number; body: unknown }>>

const EXAMPLES = examples as Examples
const { escapeHTML } = Bun
const markdown = (text: string): string => Bun.markdown.html(text, { noHtmlBlocks: true, noHtmlSpans: true })
/** One line, without the paragraph around it. */
const inline = (text: string): string =>
  markdown(text)
    .trim()
    .replace(/^<p>([\s\S]*)<\/p>$/, '$1')

/** `up` leads to the root of the service. */
export function referenceArticle(document: OpenApi, up: string): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...(operation as unknown as Operation),
      method: method.toUpperCase(),
      path,
    })),
  )
  /** The fields of a body are shown with its operation. */
  const resolved = (schema: Schema): Schema =>
    typeof schema.$ref === 'string' ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? schema) : schema
  const tags = document.tags.map(({ name, description }) => {
    const own = operations.filter(operation => operation.tags[0] === name)
    return `${heading(2, `tag-${name}`, name)}<p>${inline(description)}</p>${own.map(each => operationSection(each, up, resolved)).join('')}`
  })
  const objects = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<section class="operation">${heading(3, `schema-${name}`, name)}${schema.description ? `<p>${inline(String(schema.description))}</p>` : ''}${fieldTable(schema)}</section>`,
  )
  const [about = '', ...rules] = String(document.info.description).split('\n\n')
  return `<h1>API reference</h1>
${markdown(about)}
<p><a href="${up}openapi.json">The OpenAPI document</a> · <a href="${up}docs/api/try">Try it out</a> · <a href="${up}docs/start">Start</a> · <a href="${up}docs/troubleshooting">All error codes</a></p>
<p>The samples take <code>VIDIMUS_URL</code>, <code>API_KEY</code> and, for one session or device, <code>ID</code> from the environment.</p>
${tags.join('')}
${heading(2, 'events', 'Webhooks')}
<p>Sent to <code>webhook_url</code>, or to the endpoint of the shop. <a href="${up}docs/webhooks">Webhooks</a> explains signature and delivery.</p>
${exampleBlocks('webhook')}
${heading(2, 'objects', 'Objects')}
${objects.join('')}
${heading(2, 'limits', 'Errors and limits')}
${markdown(rules.join('\n\n'))}`
}

const heading = (level: 2 | 3, id: string, text: string): string =>
  `<h${level} id="${escapeHTML(id)}">${escapeHTML(text)} <a class="anchor" href="#${escapeHTML(id)}" aria-label="Link to “${escapeHTML(text)}”">#</a></h${level}>`

function operationSection(
  operation: Operation & { method: string; path: string },
  up: string,
  resolved: (schema: Schema) => Schema,
): string {
  const { operationId, summary, description, method, path, parameters = [], requestBody, responses } = operation
  const [body] = Object.values(requestBody?.content ?? {})
  return `<section class="operation">${heading(3, operationId, summary)}
<p class="call"><b>${method}</b> ${escapeHTML(path)}</p>
${markdown(description)}
${parameters.length ? table(['parameter', 'type', 'meaning'], parameters.map(parameterRow)) : ''}
${body ? `<h4>Body</h4>${fieldTable(resolved(body.schema))}` : ''}
${samples(operation)}
<h4>Responses</h4>${responseTable(responses, up)}
${exampleBlocks(operationId)}</section>`
}

const parameterRow = ({ name, in: place, required, description = '', schema }: Parameter): string[] => [
  `<code>${escapeHTML(name)}</code><br />${place}${required ? ', required' : ''}`,
  typeOf(schema),
  inline(description),
]

function responseTable(responses: Operation['responses'], up: string): string {
  const rows = Object.entries(responses).map(([status, { content }]) => {
    const [body] = Object.values(content ?? {})
    const codes = Object.keys(body?.examples ?? {})
    if (codes.length === 0) return [status, body ? typeOf(body.schema) : '']
    return [status, codes.map(code => `<a href="${up}${addressInHandbook(code)}"><code>${code}</code></a>`).join(', ')]
  })
  return table(['status', 'body or error code'], rows)
}

function samples(operation: Operation & { method: string; path: string }): string {
  const [, answer] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? []
  const [type = ''] = Object.keys(answer?.content ?? {})
  const call: Call = {
    method: operation.method,
    path: operation.path,
    needsKey: operation.security.length > 0,
    isText: type.startsWith('text/'),
    ...(requestOf(operation.operationId) !== undefined && { body: requestOf(operation.operationId) }),
  }
  // Wallets call these; a wallet brings its own code.
  if (operation.requestBody?.required && call.body === undefined) return ''
  if (!call.isText && type !== 'application/json') return ''
  const blocks = (Object.keys(LANGUAGES) as Language[]).map(
    (name, i) =>
      `<details data-language="${name}"${i === 0 ? ' open' : ''}><summary>${LANGUAGE_NAMES[name]}</summary><pre><code class="language-${name}">${escapeHTML(LANGUAGES[name](call))}\n</code></pre></details>`,
  )
  return blocks.join('')
}

const requestOf = (operationId: string): unknown =>
  Object.values(EXAMPLES[operationId] ?? {}).find(({ request }) => request !== undefined)?.request

const exampleBlocks = (operationId: string): string =>
  Object.entries(EXAMPLES[operationId] ?? {})
    .map(
      ([title, { status, body }], i) =>
        `<details${i === 0 ? ' open' : ''}><summary>Example: ${escapeHTML(title)} (${status})</summary><pre><code class="language-json">${escapeHTML(JSON.stringify(body, null, 2))}\n</code></pre></details>`,
    )
    .join('')

const FIELD_DEPTH_MAX = 3

/** The fields of an object; those of inner objects by their path. */
function fieldTable(schema: Schema): string {
  const rows = fieldRows(schema, '', 0)
  return rows.length ? table(['field', 'type', 'meaning'], rows) : `<p>${typeOf(schema)}</p>`
}

function fieldRows(schema: Schema, path: string, depth: number): string[][] {
  const required = (schema.required ?? []) as string[]
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>).flatMap(([name, field]) => {
    const inner = (field.type === 'array' ? field.items : field) as Schema
    const at = `${path}${name}${field.type === 'array' ? '[]' : ''}`
    const more = depth < FIELD_DEPTH_MAX ? fieldRows(inner, `${at}.`, depth + 1) : []
    return [
      [
        `<code>${escapeHTML(path + name)}</code>${required.includes(name) ? '<br />required' : ''}`,
        typeOf(field),
        inline(String(field.description ?? '')),
      ],
      ...more,
    ]
  })
}

function typeOf(schema: Schema): string {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? ''
    return `<a href="#schema-${escapeHTML(name)}">${escapeHTML(name)}</a>`
  }
  if (schema.const !== undefined) return `<code>${escapeHTML(JSON.stringify(schema.const))}</code>`
  if (Array.isArray(schema.enum)) return schema.enum.map(value => `<code>${escapeHTML(String(value))}</code>`).join(', ')
  if (schema.type === 'array') return `list of ${typeOf((schema.items ?? {}) as Schema)}${bounds(schema)}`
  const choices = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined
  if (!schema.type && choices) return choices.map(typeOf).join(' or ')
  return `${escapeHTML(String(schema.format ?? schema.type ?? 'anything'))}${bounds(schema)}`
}

const BOUNDS = [
  ['minLength', 'maxLength', ' characters'],
  ['minItems', 'maxItems', ' of them'],
  ['minProperties', 'maxProperties', ' members'],
  ['minimum', 'maximum', ''],
] as const

function bounds(schema: Schema): string {
  const limits = schema as Record<string, number | undefined>
  const words = BOUNDS.flatMap(([least, most, unit]) => rangeOf(limits[least], limits[most], unit))
  if (schema.default !== undefined) words.push(`default ${JSON.stringify(schema.default)}`)
  return words.map(each => `, ${escapeHTML(each)}`).join('')
}

/** A text or list that must not be empty, and nothing else, goes without saying. */
function rangeOf(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (most !== undefined && least !== undefined) return [`${least} to ${most}${unit}`]
  if (most !== undefined) return [`at most ${most}${unit}`]
  return least === undefined || (unit !== '' && least === 1) ? [] : [`at least ${least}${unit}`]
}

const table = (headings: string[], rows: string[][]): string =>
  `<div class="scroll" tabindex="0"><table><thead><tr>${headings.map(each => `<th>${each}</th>`).join('')}</tr></thead><tbody>${rows
    .map(row => `<tr>${row.map(cell => `<td>${cell}</td>`).join('')}</tr>`)
    .join('')}</tbody></table></div>`
