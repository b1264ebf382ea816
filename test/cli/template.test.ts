import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/cli.ts'

// Said here because the runner forgets what was said for all files after the first one.
setDefaultTimeout(60_000)

const files = temporaryDir()
const dir = join(temporaryDir(), 'data')
const MEMBER = { id: 'member', format: 'dc+sd-jwt', meta: { vct_values: ['https://club.example/member'] } }

let tenant: string

beforeAll(async () => {
  tenant = (await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Club')).id
})

async function put(query: string | Uint8Array, ...flags: string[]) {
  const file = join(files, 'query.json')
  writeFileSync(file, query)
  const call = ['template', 'put', '--tenant', tenant, '--key', 'membership', '--file', file, ...flags]
  const { exitCode, stderr } = await vidimus(dir, call)
  const { data } = await vidimusJson<{ data: { key: string }[] }>(dir, 'template', 'list', '--tenant', tenant)
  return { exitCode, stderr, isKept: data.some(({ key }) => key === 'membership') }
}

const queryWith = (value: string) => `{"credentials":[${JSON.stringify(MEMBER)}],"x":${value}}`

test.each([
  ['nested deeper than 32 levels', queryWith('['.repeat(30_000) + ']'.repeat(30_000)), /nested deeper than 32 levels/],
  ['with half of a surrogate pair', queryWith('"\\ud800"'), /half of a surrogate pair/],
  ['of more than 64 KiB, counted in bytes', queryWith(JSON.stringify('ü'.repeat(40_000))), /larger than 64 KiB/],
  ['that is not UTF-8', Buffer.from(queryWith('"\u00fc"'), 'latin1'), /not valid UTF-8/],
  ['that is no object', '[]', /expected a JSON object/],
])('a template %s is refused, as the API refuses such a body, and nothing is kept', async (_, query, says) => {
  expect(await put(query)).toEqual({ exitCode: 1, stderr: expect.stringMatching(says), isKept: false })
})

test.each(['', '  '])('a template with the title "%s" is a wrong call', async title => {
  expect(await put(queryWith('1'), `--title=${title}`)).toEqual({
    exitCode: 2,
    stderr: expect.stringMatching(/^vidimus: --title: .*; --help shows how to call it\n$/),
    isKept: false,
  })
})
