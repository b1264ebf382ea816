import { Elysia } from 'elysia'
import type { Deps } from '../access/deps.ts'
import { accessPlugin } from '../access/plugin.ts'
import { traceOf } from '../http/plugin.ts'
import { errorResponses } from '../http/schema.ts'
import { changeDevice } from './change.ts'
import { enrollDevice } from './enroll.ts'
import { pairAgain } from './pair-again.ts'
import { presentDevice } from './present.ts'
import { readDevices } from './read.ts'
import { refreshDevice } from './refresh.ts'
import { registerDevice } from './register.ts'
import { revokeDevice } from './revoke.ts'
import {
  ChangeDevice,
  Device,
  DeviceId,
  DeviceList,
  EnrollDevice,
  PairDevice,
  RefreshDevice,
  RegisterDevice,
  RegisteredDevice,
  TokenPair,
} from './schema.ts'
import type { Exchange } from './tokens.ts'

export const deviceRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/v1', tags: ['Devices'] })
    .use(accessPlugin(deps))
    .post(
      '/devices',
      async ({ caller, body, status }) => {
        const { device, pairingCode } = await registerDevice(deps, caller, body, caller.name)
        return status(201, { device: presentDevice(device), pairing_code: pairingCode })
      },
      {
        need: { scope: 'devices:manage', body: 'json' },
        body: RegisterDevice,
        response: { 201: RegisteredDevice, ...errorResponses(400, 401, 403, 413, 429, 500) },
        detail: {
          operationId: 'registerDevice',
          summary: 'Register a device and get its pairing code',
          description: 'The device belongs to the environment of the key. At most 50 unclaimed codes wait at a time.',
        },
      },
    )
    .get('/devices', async ({ caller }) => ({ data: await readDevices(deps, caller) }), {
      need: { scope: 'devices:manage' },
      response: { 200: DeviceList, ...errorResponses(401, 403, 429, 500) },
      detail: { operationId: 'listDevices', summary: 'List devices, newest first' },
    })
    .patch(
      '/devices/:id',
      async ({ caller, params, body }) => presentDevice(await changeDevice(deps, caller, params.id, body, caller.name)),
      {
        need: { scope: 'devices:manage', body: 'json' },
        params: DeviceId,
        body: ChangeDevice,
        response: { 200: Device, ...errorResponses(400, 401, 403, 404, 409, 413, 429, 500) },
        detail: {
          operationId: 'changeDevice',
          summary: 'Change the name or the templates of a device',
          description: 'It stays paired, and works with the new templates from its next request on.',
        },
      },
    )
    .post(
      '/devices/:id/pairing',
      async ({ caller, params, body, status }) => {
        const { device, pairingCode } = await pairAgain(deps, caller, params.id, body ?? {}, caller.name)
        return status(201, { device: presentDevice(device), pairing_code: pairingCode })
      },
      {
        need: { scope: 'devices:manage', body: 'optional' },
        params: DeviceId,
        body: PairDevice,
        response: { 201: RegisteredDevice, ...errorResponses(400, 401, 403, 404, 409, 413, 429, 500) },
        detail: {
          operationId: 'pairDevice',
          summary: 'Get a new pairing code for a device',
          description: 'The device is pending until the code is used: what it held before stops working at once.',
        },
      },
    )
    .delete(
      '/devices/:id',
      async ({ caller, params }) => presentDevice(await revokeDevice(deps, caller, params.id, caller.name)),
      {
        need: { scope: 'devices:manage' },
        params: DeviceId,
        response: { 200: Device, ...errorResponses(401, 403, 404, 429, 500) },
        detail: {
          operationId: 'revokeDevice',
          summary: 'Revoke a device',
          description: 'Everything it holds stops working at once. A repeat answers the same.',
        },
      },
    )
    .post(
      '/devices/enroll',
      async ({ request, headers, body, set }) => {
        const claim = { client: traceOf(request).client, code: body.pairing_code, idempotencyKey: headers['idempotency-key'] }
        return answer(await enrollDevice(deps, claim), set)
      },
      {
        open: { exchange: 'enroll', idempotent: true, body: 'json' },
        body: EnrollDevice,
        response: { 200: TokenPair, ...errorResponses(400, 413, 429, 500) },
        detail: {
          operationId: 'enrollDevice',
          summary: 'Exchange a pairing code for a token pair',
          description:
            'A code works once. Wrong codes are few: after that 429, which names the empty budget. ' +
            'A right code is taken all the same in a network where its tenant authenticated in the last 30 days.',
        },
      },
    )
    .post(
      '/devices/token',
      async ({ request, headers, body, set }) => {
        const refresh = { client: traceOf(request).client, token: body.refresh_token, idempotencyKey: headers['idempotency-key'] }
        return answer(await refreshDevice(deps, refresh), set)
      },
      {
        open: { exchange: 'refresh', idempotent: true, body: 'json' },
        body: RefreshDevice,
        response: { 200: TokenPair, ...errorResponses(400, 413, 429, 500) },
        detail: {
          operationId: 'refreshDevice',
          summary: 'Exchange a refresh token for a new pair',
          description: 'Every exchange spends the token presented. Presenting a spent one revokes the device.',
        },
      },
    )

function answer({ pair, replayed }: Exchange, set: { headers: Record<string, string | number> }): TokenPair {
  if (replayed) set.headers['idempotent-replayed'] = 'true'
  return pair
}
