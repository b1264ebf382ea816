// Size and depth of bodies are limited before anything parses them. The runtime discards unread bodies of refused requests.
import type { TSchema } from '@sinclair/typebox'
import { Errors } from '@sinclair/typebox/errors'
import { DoubledName, findDoubledName, parseJson } from '../base/json.ts'
import { ApiError, apiError } from './errors.ts'
import { startReading, waitToParse } from './plugin.ts'
import { describeProblem } from './schema.ts'

export const JSON_BYTES_MAX = 64 * 1024
const JSON_DEPTH_MAX = 32

const invalid = (message: string, cause?: unknown) => apiError('invalid_request', { message, cause })

/** Every JSON body of this API is an object. */
export async function readJson(request: Request, bytesMax = JSON_BYTES_MAX, valuesMax?: number): Promise<object> {
  requireType(request, 'application/json')
  return parseObject(await readBytes(request, bytesMax), 'body', valuesMax)
}

/** Called by routes that read their body themselves, after other checks. */
export async function readBody<Schema extends TSchema>(
  request: Request,
  schema: Schema,
  { bytesMax, valuesMax }: { bytesMax?: number; valuesMax?: number } = {},
): Promise<Schema['static']> {
  const body = await readJson(request, bytesMax, valuesMax)
  const problem = Errors(schema, body).First()
  if (problem) throw invalid(describeProblem(problem))
  return body as Schema['static']
}

/** An empty body counts as an empty object, whatever its content type. */
export async function readOptionalJson(request: Request): Promise<object> {
  const bytes = await readBytes(request, JSON_BYTES_MAX)
  if (bytes.length === 0) return {}
  requireType(request, 'application/json')
  return parseObject(bytes, 'body')
}

/** Rules for every JSON text from outside, body or file. Messages begin with its name. */
export function parseObject(bytes: Uint8Array, name: string, valuesMax?: number): object {
  const value = parseValue(bytes, name, valuesMax)
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalid(`${name}: expected a JSON object`)
  return value
}

export function parseArray(bytes: Uint8Array, name: string): unknown[] {
  const value = parseValue(bytes, name)
  if (!Array.isArray(value)) throw invalid(`${name}: expected a JSON array`)
  return value
}

function parseValue(bytes: Uint8Array, name: string, valuesMax?: number): unknown {
  return parse(decodeUtf8(bytes, name), name, valuesMax)
}

export const FORM_FIELDS_MAX = 32

/** Fields by name. A repeated one is refused: two readers could use different ones. */
export async function readForm(request: Request, bytesMax: number): Promise<Map<string, string>> {
  const form = new Map<string, string>()
  for (const [name, value] of await readFields(request, bytesMax)) {
    if (form.has(name)) throw invalid('body: a field is repeated')
    form.set(name, value)
  }
  return form
}

/** The same for routes that refuse a repeated field in their own words. */
export async function readFields(request: Request, bytesMax: number): Promise<URLSearchParams> {
  requireType(request, 'application/x-www-form-urlencoded')
  const text = decodeUtf8(await readBytes(request, bytesMax), 'body')
  // Counted before splitting: a form of 250,000 fields would take long.
  let fields = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++fields > FORM_FIELDS_MAX) throw invalid(`body: more than ${FORM_FIELDS_MAX} fields`)
  }
  if (/\0|%00/.test(text)) throw invalid('body: a field holds the character U+0000; leave it out')
  return new URLSearchParams(text)
}

function requireType(request: Request, type: string): void {
  const given = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (given !== type) throw invalid(`Content-Type: send the body as ${type}`)
}

async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  try {
    const bytes = await readWithin(request, bytesMax)
    await waitToParse(request, bytes.length)
    return bytes
  } catch (error) {
    throw error instanceof ApiError ? error : invalid('body: cannot be read', error)
  }
}

async function readWithin(request: Request, bytesMax: number): Promise<Uint8Array> {
  const tooLarge = () => apiError('payload_too_large', { message: `body: larger than ${bytesMax / 1024} KiB` })
  const length = request.headers.get('content-length')
  // The runtime accepts equal lengths and joins them to "5, 5": NaN, which is within every limit.
  if (length !== null && !/^\d+$/.test(length)) throw invalid('Content-Length: send the header once')
  if (Number(length) > bytesMax) throw tooLarge()
  const stopReading = startReading(request, length === null ? bytesMax : Number(length))
  try {
    return length === null ? await readChunks(request, bytesMax, tooLarge) : await request.bytes()
  } finally {
    stopReading()
  }
}

async function readChunks(request: Request, bytesMax: number, tooLarge: () => ApiError): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > bytesMax) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Uint8Array, name: string): string {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw invalid(`${name}: not valid UTF-8`, error)
  }
}

const NAME_CHARS_MAX = 64

function parse(text: string, name: string, valuesMax?: number): unknown {
  try {
    return parseJson(text, { depthMax: JSON_DEPTH_MAX, ...(valuesMax !== undefined && { valuesMax }) })
  } catch (error) {
    if (!(error instanceof DoubledName)) throw invalid(`${name}: ${(error as SyntaxError).message}`, error)
    const doubled = JSON.stringify(findDoubledName(text)?.slice(0, NAME_CHARS_MAX).toWellFormed())
    throw invalid(`${name}: an object has the name ${doubled} twice; send each name once`, error)
  }
}
