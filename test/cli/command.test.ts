import { expect, test } from 'bun:test'
import { argument, defineCommand, runCommand } from '../../src/cli/command.ts'
import { numberFrom, oneOf, optional, orNull, repeated, required, text, toggle } from '../../src/cli/flags.ts'

type Added = { file: string; maxSize: number; limit: number | null | undefined; tag: string[] | undefined; dry: boolean }

const box = defineCommand(
  {
    summary: 'add things, or empty the box',
    subcommands: {
      add: {
        argument: argument('file', 'FILE', 'the file'),
        flags: {
          'max-size': required(numberFrom(1, 9)),
          limit: optional(orNull(numberFrom(0, 9), 'none')),
          tag: repeated(text('TAG')),
          dry: toggle('change nothing'),
        },
      },
      clear: { flags: { kind: optional(oneOf(['old', 'new'])) } },
      'clear --all': {},
    },
    example: 'vidimus box add FILE --max-size 3',
  },
  {
    // The compiler holds the types of the table against these.
    add: async given => ({ json: given satisfies Added, text: `${given.file} \u001b[2J\u202e added` }),
    clear: async ({ kind }) => ({ json: { kind: (kind satisfies 'old' | 'new' | undefined) ?? null }, text: '' }),
    'clear --all': async () => ({ json: { all: true }, text: 'empty', note: 'two things are gone', exitCode: 3 }),
  },
)

async function call(typed: string) {
  const lines: string[] = []
  const shell = { env: {}, print: (line: string) => lines.push(line), complain: (line: string) => lines.push(`! ${line}`) }
  return { exitCode: await runCommand('box', box, typed.split(' '), shell), lines }
}

test('a handler gets the argument and all flags of its subcommand, read as the table declares them', async () => {
  const { lines } = await call('add a.txt --max-size 3 --limit none --tag x --tag y --dry --json')
  expect(lines.map(line => JSON.parse(line))).toEqual([
    { file: 'a.txt', maxSize: 3, limit: null, tag: ['x', 'y'], dry: true, json: true },
  ])
  const few = await call('add a.txt --max-size 3 --json')
  expect(few.lines).toEqual(['{"file":"a.txt","maxSize":3,"dry":false,"json":true}'])
})

test('a subcommand whose name ends in a flag is chosen by that flag', async () => {
  expect(await call('clear --kind old --json')).toEqual({ exitCode: 0, lines: ['{"kind":"old"}'] })
  expect(await call('clear --all --json')).toEqual({ exitCode: 3, lines: ['{"all":true}'] })
  await expect(call('clear --all --kind old')).rejects.toThrow('box clear takes no --kind')
  await expect(call('add a.txt --max-size 3 --all')).rejects.toThrow('box add takes no --all')
})

test('a flag with one value refuses a second one, instead of dropping the first', async () => {
  await expect(call('add a.txt --max-size 3 --max-size 4')).rejects.toThrow('--max-size is given twice; give it once')
  await expect(call('clear --kind old --kind=old')).rejects.toThrow('--kind is given twice; give it once')
  const { lines } = await call('add a.txt --max-size 3 --tag x --tag x --dry --dry --json --json')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ tag: ['x', 'x'], dry: true })
})

test('text for people has no control characters, and a note goes to standard error', async () => {
  expect((await call('add a.txt --max-size 3')).lines).toEqual(['a.txt ?[2J? added'])
  expect((await call('clear --all')).lines).toEqual(['empty', '! two things are gone'])
})

test('the help of a command shows each call of each subcommand, and explains the flags', async () => {
  expect((await call('clear --help')).lines).toEqual([
    `usage: vidimus box add FILE --max-size N [--limit N|none] [--tag TAG] [--dry] [--json]
       vidimus box clear [--kind old|new] [--json]
       vidimus box clear --all [--json]

  --dry  change nothing

example: vidimus box add FILE --max-size 3`,
  ])
})
