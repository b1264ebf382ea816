import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { vidimus } from '../helpers/command.ts'

const NOTHING_MADE = join(temporaryDir(), 'never-made')

describe.concurrent('the commands of whoever operates it', () => {
  test.each([
    ['backup', /usage: vidimus backup FILE \[--force\] \[--json\]/],
    ['restore', /usage: vidimus restore FILE \[--without-erasures\] \[--json\]/],
    ['rekey', /usage: vidimus rekey \[--data\] \[--json\]/],
    ['upgrade', /usage: vidimus upgrade \[--dry-run\] \[--finish\] \[--json\]/],
  ] as const)('%s --help prints the usage with an example, and touches nothing', async (verb, usage) => {
    const { exitCode, stdout, stderr } = await vidimus(NOTHING_MADE, [verb, '--help'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(usage)
    expect(stdout).toMatch(/^example: vidimus \w/m)
    expect(Math.max(...stdout.split('\n').map(line => line.length))).toBeLessThan(160)
    expect(existsSync(NOTHING_MADE)).toBe(false)
  })

  test.each([
    [['backup'], 'the file to write is missing'],
    [['backup', 'a', 'b'], 'backup takes no "b"'],
    [['restore'], 'the backup is missing'],
    [['restore', 'a', 'b'], 'restore takes no "b"'],
    [['restore', 'a', '--force'], '--force'],
    [['rekey', 'now'], 'rekey takes no "now"'],
    [['upgrade', 'now'], 'upgrade takes no "now"'],
  ])('%j is a wrong call', async (args, says) => {
    const { exitCode, stdout, stderr } = await vidimus(NOTHING_MADE, args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^vidimus: [^\n]+; --help shows how to call it\n$/)
    expect(stderr).toContain(says)
    expect(existsSync(NOTHING_MADE)).toBe(false)
  })

  test('the top level names them', async () => {
    const { stdout } = await vidimus(NOTHING_MADE, ['--help'])
    for (const verb of ['backup', 'restore', 'rekey', 'upgrade']) expect(stdout).toMatch(new RegExp(`^  ${verb} +\\w`, 'm'))
  })
})
