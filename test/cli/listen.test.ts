import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { databaseOf } from '../helpers/database.ts'
import { PROGRAM } from '../helpers/program.ts'

test('listen prints the command that shows the secret, and that command works unchanged', async () => {
  const dir = join(temporaryDir(), 'data')
  const { id } = await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Shop')
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([PROGRAM, 'listen', '--forward', 'http://localhost:4000/hook'], {
    env: { PATH, HOME, VIDIMUS_DATA_DIR: dir, ...(await databaseOf(dir)) },
    stdout: 'pipe',
  })
  try {
    const { value } = await child.stdout.getReader().read()
    const [, command = ''] = /"vidimus ([^"]+)"/.exec(new TextDecoder().decode(value)) ?? []
    expect(command).toContain(id)
    const { exitCode, stdout } = await vidimus(dir, command.split(' '))
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('whsec_')])
  } finally {
    child.kill('SIGTERM')
    await child.exited
  }
})

test('listen --help says that nothing is tried again', async () => {
  expect((await vidimus(temporaryDir(), ['listen', '--help'])).stdout).toContain('is not tried again')
})
