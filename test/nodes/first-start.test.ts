// Nodes that start at the same moment: each thing that an installation has once is made once.
import { expect } from 'bun:test'
import { readdirSync } from 'node:fs'
import { createVerification, NOON, startApp, type TestApp, temporaryDir, testClock } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { nodesTest } from '../helpers/nodes.ts'

const ROUNDS = 4

/** Two nodes on the database and the keys of a directory. */
async function startBoth(home: string): Promise<[TestApp, TestApp]> {
  const beside = { home, clock: testClock(NOON) }
  return await Promise.all([startApp({ beside }), startApp({ beside })])
}

const stopBoth = (nodes: TestApp[]) => Promise.all(nodes.map(node => node.stop()))

nodesTest('two nodes that start at once on an empty database share every key and the sandbox issuer', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const home = temporaryDir()
    const nodes = await startBoth(home)
    const [one, other] = await Promise.all(nodes.map(({ deps }) => deps.sandbox()))
    expect(one!.anchor).toEqual(other!.anchor)
    const names = rowsOf<{ name: string }>(home, "SELECT name FROM installation WHERE name IN ('root_key', 'sandbox_issuer')")
    expect(names.map(({ name }) => name).sort()).toEqual(['root_key', 'sandbox_issuer'])
    const signing = rowsOf<{ role: string }>(home, 'SELECT role FROM signing_keys')
    expect(signing.map(({ role }) => role).sort()).toEqual(['authority', 'leaf'])
    expect(rowsOf(home, 'SELECT id FROM wrapping_keys')).toEqual([{ id: 1 }])
    expect(
      readdirSync(home)
        .filter(name => name.endsWith('.key'))
        .sort(),
    ).toEqual(['master.key', 'wrapping-1.key'])
    // Each opens what the other sealed.
    const { key } = await nodes[0].tenant()
    for (const [maker, reader] of [nodes, nodes.toReversed()]) {
      const { id } = await createVerification(maker!, key, { metadata: { order: '1' } })
      const { body } = await reader!.call('GET', `/v1/verifications/${id}`, { key })
      expect(body).toMatchObject({ id, metadata: { order: '1' } })
    }
    await stopBoth(nodes)
  }
})
