// Every start logs what this installation allows beyond the defaults.
import { afterAll, expect, test } from 'bun:test'
import { temporaryDir } from '../helpers/app.ts'
import { databaseOf } from '../helpers/database.ts'
import { PROGRAM } from '../helpers/program.ts'

const started = new Set<{ kill(signal: 'SIGKILL'): void; exited: Promise<number> }>()
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL')
  await Promise.all([...started].map(({ exited }) => exited))
})

const PRIVATE = 'webhooks.private_destinations'

type Line = { level: string; event: string; address?: string; count?: number; detail?: string }

/** The warnings, and the line about private destinations, until the service has started. */
async function openingsOf(flags: string[], env: Record<string, string>): Promise<Line[]> {
  const { PATH = '', HOME = '' } = process.env
  const dir = temporaryDir()
  const child = Bun.spawn([PROGRAM, 'serve', ...flags], {
    env: { PATH, HOME, PORT: '0', VIDIMUS_DATA_DIR: dir, ...(await databaseOf(dir)), ...env },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  started.add(child)
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of child.stderr) {
    text += decoder.decode(chunk, { stream: true })
    if (/service\.started.*\n/.test(text)) break
  }
  child.kill('SIGKILL')
  const lines = text.split('\n').filter(line => line.startsWith('{'))
  return lines
    .map(line => JSON.parse(line) as Line)
    .filter(({ level, event }) => (level === 'warn' && event !== 'files.limit_low') || event === PRIVATE)
}

test.each([[['--json']], [[]]])('serve %j warns of plain http on a network, and names every private destination', async flags => {
  const allowed = '192.168.10.20:8443, [fd12::7]:443'
  const [plain, egress, ...rest] = await openingsOf(flags, { HOST: '0.0.0.0', VIDIMUS_EGRESS_ALLOW: allowed })
  expect(plain).toMatchObject({ level: 'warn', event: 'service.plain_http', address: '0.0.0.0' })
  expect(plain?.detail).toContain('VIDIMUS_TLS_CERT')
  expect(egress).toMatchObject({ level: 'info', event: PRIVATE, count: 2 })
  expect(egress?.detail).toContain('VIDIMUS_EGRESS_ALLOW lets them reach 192.168.10.20/32:8443, fd12::7/128:443')
  expect(rest).toEqual([])
})

test('serve --json logs no warning on localhost without private destinations', async () => {
  expect(await openingsOf(['--json'], {})).toEqual([])
})
