import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'

const SCRIPT = resolve(import.meta.dir, '../../scripts/sandbox-wallet.ts')

test.each([
  [['--bogus'], /^sandbox-wallet: Unknown option '--bogus'\n$/],
  [['--person', 'minor'], /^sandbox-wallet: Unknown option '--person'; did you mean --persona\?\n$/],
  [['--persona'], /^sandbox-wallet: --persona needs a value; .*\n$/],
])('a call with %j is told in one line, with exit code 2', async (flags, says) => {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([process.execPath, SCRIPT, 'openid4vp://authorize?client_id=x', ...flags], {
    env: { PATH, HOME, VIDIMUS_DATA_DIR: temporaryDir() },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [exitCode, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(says) })
})
