/**
 * The client for a merchant's server, which holds the API key. It needs only `fetch` and WebCrypto, so it runs in
 * Bun, Node.js 20, Deno and edge runtimes. Objects have the fields of the API.
 *
 * @module
 */
import { type CallOptions, createTransport, idPath, type TransportOptions } from './transport.ts'
import { type Send, type Verifications, verifications } from './verifications.ts'
import type { Device, RegisterDevice, RegisteredDevice, Template, Usage } from './wire.ts'

export type { DcAnswer } from './browser.ts'
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
  /**
   * Only this response contains the pairing code. If it is lost, the call is not repeated: that
   * would leave a device that nobody can pair.
   */
  register(body: RegisterDevice, options?: CallOptions): Promise<RegisteredDevice>
  list(options?: CallOptions): Promise<{ data: Device[] }>
  /** Its tokens stop working at once. Repeating it is harmless. */
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
 * Every call throws a {@link VidimusError} when it fails, and the signal's reason when it is aborted. A call that is
 * safe to repeat is tried up to four times within `timeoutMs`: without a response, after a 5xx, and after a 429 once
 * `Retry-After` has passed.
 *
 * @example
 * ```ts
 * const vidimus = createClient({ baseUrl: 'https://verify.example', apiKey: process.env.API_KEY ?? '' })
 * const { id, wallet_uri } = await vidimus.verifications.create({ template: 'age_over_18', purpose: 'To sell you wine' })
 * const { status, claims } = await vidimus.verifications.wait(id)
 * ```
 */
export function createClient({ apiKey, ...options }: ClientOptions): Client {
  // The value is not quoted: messages may be logged. fetch would quote a value that no header can carry.
  if (typeof apiKey !== 'string' || !/^vk_(test|live)_[A-Za-z0-9]{1,200}$/.test(apiKey))
    throw new TypeError('apiKey: give the whole API key, vk_test_ or vk_live_ and what follows, without spaces or line ends')
  const transport = createTransport(options)
  const send: Send = call => transport.send({ ...call, token: apiKey })

  return {
    verifications: verifications(transport, send),
    devices: {
      register: async (body, options = {}) =>
        await send({ ...options, method: 'POST', path: '/v1/devices', field: 'device', body }),
      list: (options = {}) => send({ ...options, path: '/v1/devices', field: 'data', isRepeatable: true }),
      revoke: async (id, options = {}) =>
        await send({ ...options, method: 'DELETE', path: idPath('/v1/devices', id), field: 'id', isRepeatable: true }),
    },
    templates: (options = {}) => send({ ...options, path: '/v1/templates', field: 'data', isRepeatable: true }),
    usage: (options = {}) => send({ ...options, path: '/v1/usage', field: 'day', isRepeatable: true }),
  }
}
