import { expect } from 'bun:test'
import { revokeKey } from '../../src/access/keys.ts'
import { createVerification, startApp, type TestApp, until } from '../helpers/app.ts'
import { nodesTest, rowsIn, startNodes } from '../helpers/nodes.ts'
import { answerWith, fetchOf, holderOf } from '../helpers/wallet.ts'

/** The statuses of a stream, as they come. */
async function follow(app: TestApp, id: string) {
  const response = await fetch(`${app.url}/v1/verifications/${id}/events`)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const statuses = () => [...text.matchAll(/"status":"(\w+)"/g)].map(([, status]) => status)
  const ended = (async () => {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) text += chunk.value
    return statuses()
  })()
  await until(async () => statuses().length > 0)
  return { ended, statuses }
}

const requestUriOf = (walletUri: string) => new URL(walletUri).searchParams.get('request_uri') ?? ''

nodesTest('a session created on one node and answered on another ends the stream on a third', async () => {
  const [one, other] = await startNodes()
  const third = await startApp({ beside: one })
  const { key } = await one.tenant()
  const { id, wallet_uri = '' } = await createVerification(one, key)
  const stream = await follow(third, id)
  // Only a notice repeats a status: a look sends it when it is another one.
  await fetchOf(other)(requestUriOf(wallet_uri))
  await until(async () => stream.statuses().length === 2)
  await answerWith(other, await holderOf(other), wallet_uri)
  expect((await stream.ended).at(-1)).toBe('completed')
})

nodesTest('a stream on a node that hears no notices ends within its next look', async () => {
  const [one, deaf] = await startNodes()
  const { key } = await one.tenant()
  const { id, wallet_uri = '' } = await createVerification(one, key)
  const stream = await follow(deaf, id)
  // Nobody listens under this name any more: what others tell is not heard here.
  await rowsIn(
    one,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'listen%' AND application_name = $1`,
    [`vidimus/${deaf.deps.leases.holder}`],
  )
  await answerWith(one, await holderOf(one), wallet_uri)
  expect((await stream.ended).at(-1)).toBe('completed')
})

nodesTest('notices name a session by a hash of its id', async () => {
  const [one, other] = await startNodes()
  const { key } = await one.tenant()
  const heard: string[] = []
  other.deps.subscribe('session', name => heard.push(name))
  const { id, wallet_uri = '' } = await createVerification(one, key)
  await answerWith(one, await holderOf(one), wallet_uri)
  // The wallet fetched the request, and answered it.
  await until(async () => heard.filter(name => name !== '').length === 2)
  expect(heard.filter(name => name !== '' && !/^[0-9a-f]{16}$/.test(name))).toEqual([])
  expect(heard.join()).not.toContain(id)
})

nodesTest('a key that is revoked on one node is refused by the next request on the other', async () => {
  const [one, other] = await startNodes()
  const { id } = await one.tenant()
  for (let i = 0; i < 20; i++) {
    const key = await one.key(id)
    const statusOn = async (app: TestApp) => (await app.call('GET', '/v1/verifications', { key })).status
    expect(await statusOn(other)).toBe(200)
    const [row] = await rowsIn<{ id: string }>(one, 'SELECT id FROM api_keys WHERE prefix = $1 AND revoked_at IS NULL', [
      key.slice(0, 12),
    ])
    await revokeKey(one.deps, row!.id, 'test')
    expect(await statusOn(other)).toBe(401)
  }
})
