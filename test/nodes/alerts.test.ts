import { expect } from 'bun:test'
import { lookForAlerts } from '../../src/alerts/look.ts'
import { sendOwed } from '../../src/alerts/send.ts'
import { confirm, eventsOf, loseKey } from '../helpers/alerts.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import { startMailServer } from '../helpers/mail-server.ts'
import { nodesTest, startNodes } from '../helpers/nodes.ts'

nodesTest('an alert that two nodes find at the same time is logged once and mailed once', async () => {
  const server = await startMailServer()
  const resolve = async (host: string) => (host === server.mail.host ? ['127.0.0.1'] : Promise.reject(new Error('unknown')))
  const nodes = await startNodes({ resolve, config: { mail: server.mail } })
  await confirm(await setUpOwner(nodes[0]), server, 'olivia@shop.example')
  await loseKey(nodes[0])
  for (let round = 0; round < 3; round++) {
    await Promise.all(nodes.map(({ deps }) => lookForAlerts(deps)))
    await Promise.all(nodes.map(({ deps }) => sendOwed(deps)))
  }
  expect(nodes.flatMap(node => eventsOf(node, 'alert.raised'))).toEqual(['wrapping_key_missing'])
  expect(server.received).toHaveLength(1)
})
