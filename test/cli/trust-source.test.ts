import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../src/cli/index.ts'
import { cleanUp, temporaryDir } from '../helpers/app.ts'
import { DAY_MS, issueAuthority, pemOf } from '../helpers/certificates.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { databaseOf } from '../helpers/database.ts'
import { hostLists } from '../helpers/list-host.ts'
import { makeIssuers, pidList } from '../helpers/trusted-lists.ts'
import { type ListSigner, LOTE, makeSigner, type WantedLote } from '../trust-lists/make.ts'

afterAll(cleanUp)

// Commands have the real clock.
const today = Date.now()
const validNow = { notBefore: today - 30 * DAY_MS, notAfter: today + 300 * DAY_MS }
const files = temporaryDir()
const [signer, next] = [await makeSigner(validNow), await makeSigner({ ...validNow, name: 'C=EU, CN=Next Signer' })]
const issuers = await makeIssuers(3)
const listOf = (wanted: WantedLote = {}, count = 2, by: ListSigner = signer) =>
  pidList(by, issuers.slice(0, count), { issuedAt: today - DAY_MS, nextUpdate: today + 30 * DAY_MS, sequence: 5, ...wanted })

function fileOf(name: string, content: Uint8Array | string): string {
  const file = join(files, name)
  writeFileSync(file, content)
  return file
}

const first = fileOf('first.jwt', listOf())
const wallets = fileOf('wallets.jwt', listOf({ type: LOTE.wallets }))
const newer = fileOf('newer.jwt', listOf({ issuedAt: today, sequence: 6 }, 3))

type Source = {
  id: string
  label: string
  state: string
  entries: number
  sequence: number
  grace_seconds: number
  pins: { fingerprint: string }[]
}
type Anchors = { data: { id: string; source: string | null; fingerprint_sha256: string }[]; blocks: object[] }

const newDir = () => join(temporaryDir(), 'data')
const ADD = ['--kind', 'lote', '--env', 'live', '--label', 'PID list']
const add = (dir: string, place = first, ...more: string[]) =>
  vidimusJson<Source>(dir, 'trust', 'source', 'add', place, ...ADD, '--signer', signer.fingerprint, ...more)
const source = (dir: string, ...args: string[]) => vidimus(dir, ['trust', 'source', ...args])

test('trust source check shows a list and its signer, and stores nothing', async () => {
  const dir = newDir()
  const { exitCode, stdout } = await source(dir, 'check', first)
  expect(exitCode).toBe(0)
  expect(stdout).toContain(`Fingerprint  ${signer.fingerprint}`)
  expect(stdout).toMatch(/Number {7}5\n/)
  expect(stdout).toMatch(/2 for urn:eudi:pid:1\n/)
  expect(await vidimusJson(dir, 'trust', 'source', 'check', first)).toMatchObject({
    kind: 'lote',
    sequence: 5,
    signer: { fingerprint: signer.fingerprint },
    entries: 2,
  })
  expect(existsSync(dir)).toBe(false)
})

test('trust source check reads a pipe to its end', async () => {
  const pipe = join(temporaryDir(), 'pipe')
  Bun.spawnSync(['mkfifo', pipe])
  // In two pieces: the first is not the whole.
  const writer = Bun.spawn(['sh', '-c', '{ head -c 100 "$0"; tail -c +101 "$0"; } > "$1"', first, pipe])
  const { exitCode, stdout } = await source(newDir(), 'check', pipe)
  expect([exitCode, stdout.includes(signer.fingerprint), await writer.exited]).toEqual([0, true, 0])
})

test('trust source check refuses a device without end', async () => {
  const { exitCode, stderr } = await source(newDir(), 'check', '/dev/zero')
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'vidimus: /dev/zero: it is larger than 4 MiB\n' })
})

test('trust source check refuses a file that is no list, and an address without https', async () => {
  const page = fileOf('page.html', '<!doctype html><title>Not found</title>')
  expect(await source(newDir(), 'check', page)).toMatchObject({
    exitCode: 1,
    stderr: `vidimus: ${page}: it is not a readable list\n`,
  })
  const { exitCode, stderr } = await source(newDir(), 'check', 'http://lists.example/list')
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('lists are fetched over https') })
})

test('trust source add without a signer shows who signed the list, and adds nothing', async () => {
  const dir = newDir()
  const { exitCode, stdout } = await source(dir, 'add', first, ...ADD)
  expect(exitCode).toBe(1)
  expect(stdout).toContain("Nothing was added yet. Compare the fingerprint with the operator's publication,\n")
  expect(stdout).toEndWith(`--signer ${signer.fingerprint}\n`)
  expect(existsSync(dir)).toBe(false)
})

test('a source is added, listed, shown, refreshed from a file, and removed with its issuers', async () => {
  const dir = newDir()
  const { id, state, entries } = await add(dir)
  expect({ state, entries }).toEqual({ state: 'fresh', entries: 2 })
  expect((await source(dir, 'list')).stdout).toMatch(/PID list +fresh +5 .* 2 +\d{4}-/)
  expect((await source(dir, 'show', id)).stdout).toContain(`Pinned       ${signer.fingerprint} (C=EU, O=Test Operator`)
  const listed = (await vidimusJson<Anchors>(dir, 'trust', 'list')).data
  expect(listed.map(anchor => anchor.source)).toEqual(Array(6).fill(id))
  const refreshed = await vidimusJson<Source>(dir, 'trust', 'source', 'refresh', id, '--file', newer)
  expect(refreshed).toMatchObject({
    outcome: 'accepted',
    sequence: 6,
    entries: 3,
    difference: { added_count: 1, removed_count: 0 },
  })
  expect(await source(dir, 'refresh', id, '--file', first)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^vidimus: PID list: issued .* which is not after the accepted one of .*\n$/),
  })
  await vidimusJson(dir, 'trust', 'source', 'remove', id)
  expect((await vidimusJson<Anchors>(dir, 'trust', 'list')).data).toEqual([])
})

test('a command fetches a list over https, and says when it has not changed', async () => {
  const host = await hostLists(listOf())
  const dir = newDir()
  const call = (...args: string[]) => vidimus(dir, ['trust', 'source', ...args], host.env)
  const url = host.url('/list', 'localhost')
  expect(await call('add', url, ...ADD, '--signer', signer.fingerprint)).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await call('refresh')).toMatchObject({ exitCode: 0, stdout: 'PID list has not changed.\n' })
  host.list(listOf({ issuedAt: today, sequence: 4 }, 1))
  expect(await call('refresh')).toMatchObject({
    exitCode: 0,
    stdout: 'PID list has a new issue: 1 issuer.\n',
  })
  host.stop()
  expect(await call('refresh')).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^PID list: the list could not be fetched \(.*\); the last one counts until /),
  })
})

test.each(['0', '0d', '0m'])('trust source add --grace %s leaves no time after the next update is overdue', async grace => {
  const added = await add(newDir(), first, '--grace', grace)
  expect(added.grace_seconds).toBe(0)
})

test('a refresh that loses half of the issuers or more says how many there were', async () => {
  const dir = newDir()
  const { id } = await add(dir, fileOf('one.jwt', listOf({}, 1)))
  expect(await source(dir, 'refresh', id, '--file', fileOf('none.jwt', listOf({ issuedAt: today, sequence: 6 }, 0)))).toEqual({
    exitCode: 0,
    stdout: 'PID list has a new issue: 0 issuers.\n',
    stderr: 'note: it had 1 issuer before\n',
  })
})

test('a new signer is refused until trust source pin, and the only one cannot be unpinned', async () => {
  const dir = newDir()
  const { id } = await add(dir)
  const byNext = fileOf('next.jwt', listOf({ issuedAt: today, sequence: 7 }, 3, next))
  const refused = await source(dir, 'refresh', id, '--file', byNext)
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toContain(`then "vidimus trust source pin ${id} ${next.fingerprint}"`)
  expect((await source(dir, 'unpin', id, signer.fingerprint)).stderr).toContain('this is the only signer')
  const spelled = next.fingerprint.toUpperCase().replace(/..(?=.)/g, '$&:')
  await vidimusJson(dir, 'trust', 'source', 'pin', id, spelled)
  expect(await vidimusJson<Source>(dir, 'trust', 'source', 'refresh', id, '--file', byNext)).toMatchObject({ sequence: 7 })
  // The list in force is of another signer: nothing is to be decided.
  const { pins } = await vidimusJson<Source>(dir, 'trust', 'source', 'unpin', id, signer.fingerprint)
  expect(pins.map(({ fingerprint }) => fingerprint)).toEqual([next.fingerprint])
})

describe('a signer whose list is in force', () => {
  async function pinnedTwice() {
    const dir = newDir()
    const { id } = await add(dir)
    await vidimusJson(dir, 'trust', 'source', 'pin', id, next.fingerprint)
    // Each issuer counts for three types.
    const anchors = async () => (await vidimusJson<{ data: object[] }>(dir, 'trust', 'list')).data.length
    const pins = async () => (await vidimusJson<Source>(dir, 'trust', 'source', 'show', id)).pins.map(pin => pin.fingerprint)
    return { dir, id, anchors, pins }
  }

  test('is not unpinned without a word on its list: a script gets both flags named, and nothing changes', async () => {
    const { dir, id, anchors, pins } = await pinnedTwice()
    const run = await source(dir, 'unpin', id, signer.fingerprint)
    expect(run.exitCode).toBe(1)
    expect(run.stderr).toMatch(
      /this signer signed the list in force, which names 2 issuers and counts until \S+Z unless a pinned signer signs a newer one; nothing was changed: call this again with --withdraw to end it now, or with --yes to keep it\n$/,
    )
    expect([await anchors(), (await pins()).length]).toEqual([6, 2])
    expect((await source(dir, 'unpin', id, signer.fingerprint, '--yes', '--withdraw')).exitCode).toBe(2)
  })

  test('is unpinned with --yes: its list stays until its end, which the answer says, and can be withdrawn later', async () => {
    const { dir, id, anchors, pins } = await pinnedTwice()
    const kept = await source(dir, 'unpin', id, signer.fingerprint, '--yes')
    expect(kept.stdout).toMatch(
      /The list that it signed stays in force until \S+Z, or until a pinned signer has signed a newer one/,
    )
    expect([await anchors(), await pins()]).toEqual([6, [next.fingerprint]])
    await vidimusJson(dir, 'trust', 'source', 'unpin', id, signer.fingerprint, '--withdraw')
    expect(await anchors()).toBe(0)
  })

  test('is unpinned with --withdraw: its issuers count no more, its list is refused, and the same issue by a pinned signer is taken', async () => {
    const { dir, id, anchors, pins } = await pinnedTwice()
    const run = await source(dir, 'unpin', id, signer.fingerprint, '--withdraw')
    expect(run.stdout).toContain('The list that it signed counts no more: 2 issuers of it are trusted no longer')
    expect([await anchors(), await pins()]).toEqual([0, [next.fingerprint]])
    const again = await source(dir, 'refresh', id, '--file', fileOf('again.jwt', listOf()))
    expect(again.stderr).toContain(`signed by ${signer.fingerprint}, which you have not pinned`)
    expect(await anchors()).toBe(0)
    const signedAnew = fileOf('anew.jwt', listOf({}, 2, next))
    expect(await vidimusJson<Source>(dir, 'trust', 'source', 'refresh', id, '--file', signedAnew)).toMatchObject({ entries: 2 })
    expect(await anchors()).toBe(6)
  })

  test('a pinned signer is unpinned by a person who says yes at the terminal, and not by one who says no', async () => {
    const { dir, id, pins } = await pinnedTwice()
    const asked: string[] = []
    const answer = async (isYes: boolean) =>
      await run(['trust', 'source', 'unpin', id, signer.fingerprint], {
        env: { VIDIMUS_DATA_DIR: dir, ...(await databaseOf(dir)) },
        print: () => {},
        complain: () => {},
        confirm: question => asked.push(question) > 0 && isYes,
      })
    expect([await answer(false), (await pins()).length]).toEqual([1, 2])
    expect([await answer(true), await pins()]).toEqual([0, [next.fingerprint]])
    expect(asked[0]).toContain('Remove the signer, and keep that list?')
  })
})

test('a signer is given by its certificate too, but a CA is refused for an ETSI list', async () => {
  const pem = fileOf('signer.pem', signer.pem)
  const dir = newDir()
  expect(await vidimusJson<Source>(dir, 'trust', 'source', 'add', first, ...ADD, '--signer', pem)).toMatchObject({
    pins: [{ fingerprint: signer.fingerprint }],
  })
  const authority = fileOf('authority.pem', pemOf((await issueAuthority()).der))
  expect(await source(newDir(), 'add', first, ...ADD, '--signer', authority)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('this certificate is a CA'),
  })
})

test.each([
  ['add --env live', 2, /give --preset NAME, or the address or file of a list/],
  ['add x.jwt --env live', 2, /--kind is missing/],
  ['add x.jwt --preset eu-av --env live', 2, /--preset has an address of its own/],
  ['add --preset eu-av --kind lote --env live', 2, /--preset has a kind/],
  ['add --preset nope --env live', 2, /not one of eu-av-acceptance, eu-av/],
  ['add FIRST --kind lote --env live --grace 91d', 2, /--grace: longer than 90d/],
  ['add FIRST --kind lote --env live --every soon', 2, /--every: "soon" is not a time like 30m, 12h or 7d/],
  ['add FIRST --kind lote --env live --signer SIGNER --every 1m', 1, /every 15 minutes at most/],
  ['add FIRST --kind lote --env live --signer abc', 1, /not a SHA-256 fingerprint/],
  ['add FIRST --kind lote --env live --signer SIGNER --for urn:eudi:pid:*', 1, /name each type whole, without \*/],
  ['add FIRST --kind vical --env live --signer SIGNER', 1, /it is an ETSI list in JSON \(LoTE\), not a VICAL/],
  ['add FIRST --kind lote --env live --signer SIGNER --for org.iso.18013.5.1.mDL', 1, /no entry counts for org\.iso\.18013/],
  ['add WALLETS --kind lote --env live --signer SIGNER', 1, /known type of document; in a list of another type, name the serv/],
  ['add --preset eu-av-acceptance --env live', 1, /eu-av-acceptance is a test list: its issuers prove nothing about real people/],
  ['add --preset eu-av --env test', 1, /eu-av is a live list/],
  ['add --preset aamva --env live', 1, /aamva has terms of use, at https:.*--terms-read/],
  ['refresh --file FIRST', 2, /--file needs the id of its source/],
  ['pin src_x', 2, /the fingerprint of the signer is missing/],
  ['pin src_x a b', 2, /takes no "b"/],
  ['nope', 2, /there is no "trust source nope"/],
])('trust source %s ends with exit code %d and says why', async (call, exitCode, says) => {
  const args = call.split(' ').map(word => ({ FIRST: first, WALLETS: wallets, SIGNER: signer.fingerprint })[word] ?? word)
  const run = await source(newDir(), ...args)
  expect(run).toMatchObject({ exitCode, stdout: '', stderr: expect.stringMatching(says) })
})

test('an issuer of a list cannot be removed by itself, but blocked and unblocked', async () => {
  const dir = newDir()
  await add(dir)
  const [anchor] = (await vidimusJson<Anchors>(dir, 'trust', 'list')).data
  const { fingerprint_sha256: fingerprint } = anchor!
  const block = `"vidimus trust block ${fingerprint} --env live --reason TEXT"`
  expect(await vidimus(dir, ['trust', 'remove', anchor!.id])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(block),
  })
  const flags = ['--env', 'live', '--reason', 'key was stolen']
  await vidimusJson(dir, 'trust', 'block', fingerprint, ...flags)
  expect((await vidimus(dir, ['trust', 'block', fingerprint, ...flags])).stderr).toContain('is blocked in live already')
  expect((await vidimusJson<Anchors>(dir, 'trust', 'list')).blocks).toMatchObject([{ fingerprint, reason: 'key was stolen' }])
  expect((await vidimus(dir, ['trust', 'list'])).stdout).toContain(`Blocked in live: ${fingerprint} (key was stolen)`)
  await vidimusJson(dir, 'trust', 'unblock', fingerprint, '--env', 'live')
  expect((await vidimus(dir, ['trust', 'unblock', fingerprint, '--env', 'live'])).stderr).toContain('is not blocked in live')
})

test('trust list shows the source of each issuer, and with --types who may issue each type', async () => {
  const dir = newDir()
  await add(dir)
  const root = fileOf('root.pem', pemOf(issuers[2]!.der))
  await vidimusJson(dir, 'trust', 'add', root, '--env', 'live', '--for', 'urn:eudi:pid:1', '--label', 'Single')
  const { stdout } = await vidimus(dir, ['trust', 'list'])
  expect(stdout.split('\n')[0]).toMatch(/ID +ENV +LABEL +FOR +MODE +VALID UNTIL +SOURCE$/)
  expect(stdout.split('\n')[1]).toMatch(/Single +urn:eudi:pid:1 +by type +\S+$/)
  expect(stdout.match(/PID list$/gm)).toHaveLength(6)
  const { data } = await vidimusJson<{ data: { type: string; issuers: { label: string }[] }[] }>(dir, 'trust', 'list', '--types')
  const names = data.map(({ type, issuers }) => [type, issuers.map(({ label }) => label).toSorted()])
  expect(names).toEqual([
    ['eu.europa.ec.eudi.pid.1', ['Provider 1', 'Provider 2']],
    ['urn:eudi:pid:1', ['Provider 1', 'Provider 2', 'Single']],
    ['urn:eudi:pid:fi:*', ['Provider 1', 'Provider 2']],
  ])
})

test('an issuer of a list may also be added by itself', async () => {
  const dir = newDir()
  await add(dir)
  const root = fileOf('listed.pem', pemOf(issuers[0]!.der))
  await vidimusJson(dir, 'trust', 'add', root, '--env', 'live', '--for', 'urn:eudi:pid:1')
})
