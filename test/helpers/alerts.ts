import { renameSync } from 'node:fs'
import { lookForAlerts } from '../../src/alerts/look.ts'
import { sendOwed } from '../../src/alerts/send.ts'
import type { Config } from '../../src/config.ts'
import { inviteUser } from '../../src/people/users/users.ts'
import { fileOf } from '../../src/session-keys/files.ts'
import { currentOf } from '../../src/session-keys/keys.ts'
import { startApp, type TestApp } from './app.ts'
import { type Browser, openBrowser, PASSWORD, setUpOwner, tokenOf } from './dashboard.ts'
import { readMail, type startMailServer } from './mail-server.ts'

type MailServer = Awaited<ReturnType<typeof startMailServer>>
type Options = NonNullable<Parameters<typeof startApp>[0]>

/** Only the mail server has an address: the public one of the service is not called. */
export const startMailing = (mail: Config['mail'], { config, ...options }: Options = {}): Promise<TestApp> =>
  startApp({
    resolve: async host => (host === mail?.host ? ['127.0.0.1'] : Promise.reject(new Error('unknown'))),
    ...options,
    config: { mail, ...config },
  })

/** Looks, and sends what is owed, as the jobs do. */
export async function lookAndSend({ deps }: TestApp): Promise<void> {
  await lookForAlerts(deps)
  await sendOwed(deps)
}

/** Takes the wrapping key away, which raises an alert, and returns what brings it back. */
export async function loseKey({ deps }: TestApp): Promise<() => void> {
  const file = fileOf(deps.config.keyDir, currentOf(await deps.sessionKeys.look(deps.db))!.id)
  renameSync(file, `${file}.lost`)
  return () => renameSync(`${file}.lost`, file)
}

export async function joinOwner(app: TestApp, name: string): Promise<Browser> {
  const { url } = await inviteUser(app.deps, { name, memberOf: null }, 'test')
  const browser = openBrowser(app)
  const { status, text } = await browser.post('/choose-password', { token: tokenOf(url), password: PASSWORD })
  if (status !== 200) throw new Error(`not joined: ${status} ${text}`)
  return browser
}

/** Enters an address and follows the link in the mail. */
export async function confirm(browser: Browser, { received }: MailServer, address: string, language = 'en'): Promise<void> {
  const { status, text } = await browser.put('/mail/address', { address, language })
  const mail = received.pop()
  if (status !== 200 || !mail) throw new Error(`no mail: ${status} ${text}`)
  const answer = await browser.post('/mail/confirm', { token: tokenIn(readMail(mail).text) })
  if (answer.status !== 200) throw new Error(`not confirmed: ${answer.status} ${answer.text}`)
}

export const tokenIn = (text: string): string => /#(?:mail|password)=([\w-]+)/.exec(text)?.[1] ?? ''

/** A service with an owner who gets mail. */
export async function startAlerted(server: MailServer, options?: Options) {
  const app = await startMailing(server.mail, options)
  const boss = await setUpOwner(app)
  await confirm(boss, server, 'olivia@shop.example')
  return { app, boss }
}

export const eventsOf = ({ logs }: TestApp, event: string): string[] =>
  logs.flatMap(line => {
    const { event: name, detail } = JSON.parse(line) as { event: string; detail?: string }
    return name === event ? [detail ?? ''] : []
  })
