/**
 * Calls the service for a merchant, from a server: it holds the API key. Nothing but `fetch` and WebCrypto is asked for, so it runs in Bun, Node.js 20,
 * Deno and edge runtimes. Objects are as the API has them, field by field.
 *
 * @module
 */
import { type CallOptions, createTransport, idPath, type TransportOptions } from './transport.ts'
import { type Send, type Verifications, verifications } from './verifications.ts'
import type { Device, RegisterDevice, RegisteredDevice, Template, Usage } from './wire.ts'

export { type ClientErrorCode, VidimusError } from './error.ts'
export { createTill, type Till, type TillOptions, type TillStorage } from './till.ts'
export type { CallOptions, Fetch } from './transport.ts'
export type { CreatedVerification, CreateOptions, TillVerifications, Verifications } from './verifications.ts'
export type * from './wire.ts'

export type ClientOptions = TransportOptions & {
  /** `vk_test_…` or `vk_live_…`. */
  apiKey: string
}

export type Devices = {
  /** The pairing code is in this answer only. An attempt whose answer was lost is not repeated: it would leave a device that nobody can pair. */
  register(body: RegisterDevice, options?: CallOptions): Promise<RegisteredDevice>
  list(options?: CallOptions): Promise<{ data: Device[] }>
  /** All that it holds stops working at once. A repeat answers the same. */
  revoke(id: string, options?: CallOptions): Promise<Device>
}

export type Client = {
  verifications: Verifications
  /** Needs the scope `devices:manage`. */
  devices: Devices
  /** Built-in templates and your own; needs the scope `verifications:create`. */
  templates(options?: CallOptions): Promise<{ data: Template[] }>
  usage(options?: CallOptions): Promise<Usage>
}

/**
 * Every call throws a {@link VidimusError} when it gives no result, and the signal's reason when it is aborted. A call is tried up to four times within
 * `timeoutMs`, if it can be repeated without harm: when nothing answers, after a 5xx, and after a 429 as soon as `Retry-After` says, if that is in time.
 *
 * @example
 * ```ts
 * const vidimus = createClient({ baseUrl: 'https://verify.example', apiKey: process.env.API_KEY ?? '' })
 * const { id, wallet_uri } = await vidimus.verifications.create({ template: 'age_over_18', purpose: 'To sell you wine' })
 * const { status, claims } = await vidimus.verifications.wait(id)
 * ```
 */
export function createClient({ apiKey, ...options }: ClientOptions): Client {
  // Not told what it was: a message may be logged. And one that no header can carry would be told by fetch.
  if (typeof apiKey !== 'string' || !/^vk_(test|live)_[A-Za-z0-9]{1,200}$/.test(apiKey))
    throw new TypeError('apiKey: give the whole API key, vk_test_ or vk_live_ and what follows, without spaces or line ends')
  const transport = createTransport(options)
  const send: Send = call => transport.send({ ...call, token: apiKey })

  return {
    verifications: verifications(transport, send),
    devices: {
      register: async (body, options = {}) => await send({ ...options, method: 'POST', path: '/v1/devices', body }),
      list: (options = {}) => send({ ...options, path: '/v1/devices', isRepeatable: true }),
      revoke: async (id, options = {}) =>
        await send({ ...options, method: 'DELETE', path: idPath('/v1/devices', id), isRepeatable: true }),
    },
    templates: (options = {}) => send({ ...options, path: '/v1/templates', isRepeatable: true }),
    usage: (options = {}) => send({ ...options, path: '/v1/usage', isRepeatable: true }),
  }
}
