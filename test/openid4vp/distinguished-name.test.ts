import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Findings } from '../../src/openid4vp/finding.ts'
import { AnchorIndex } from '../../src/openid4vp/trust/anchor-index.ts'
import { IssuerTrust } from '../../src/openid4vp/trust/trust.ts'
import { isSameName, Name } from '../../src/openid4vp/x509/distinguished-name.ts'
import { describeCertificate } from '../../src/openid4vp/x509/x509.ts'
import { anchorOf } from '../helpers/anchors.ts'
import {
  type Issued,
  isAuthority,
  issue,
  issueAuthority,
  type Named,
  NOW,
  nameOf,
  pemOf,
  signsCertificates,
} from '../helpers/certificates.ts'

const printable = (text: string): Named => nameOf([{ C: ['NL'] }, { CN: [{ printableString: text }] }])
const utf8 = (text: string): Named => nameOf([{ C: ['NL'] }, { CN: [{ utf8String: text }] }])
const others = (kind: 'bmpString' | 'universalString' | 'ia5String', text: string): Named =>
  nameOf([{ C: ['NL'] }, { CN: [{ [kind]: text }] }])

type Pair = [title: string, a: Named, b: Named]

/** Equal by RFC 5280 § 7.1 and for OpenSSL. */
const SAME: Pair[] = [
  ['PrintableString and UTF8String', printable('Test Root'), utf8('Test Root')],
  ['upper and lower case', utf8('TEST root'), printable('test ROOT')],
  ['spaces around', utf8('  Test Root '), utf8('Test Root')],
  ['several spaces inside', utf8('Test   Root'), utf8('Test Root')],
  [
    'the attributes of one relative name in another order',
    nameOf([{ O: [{ utf8String: 'Gov' }], CN: [{ utf8String: 'Root' }] }]),
    nameOf([{ CN: [{ printableString: 'root' }], O: [{ printableString: 'gov' }] }]),
  ],
  [
    'domain components in another case',
    nameOf([{ DC: [{ ia5String: 'EXAMPLE' }] }]),
    nameOf([{ DC: [{ ia5String: 'example' }] }]),
  ],
]

/** Equal by RFC 4518, but not for OpenSSL. */
const SAME_BY_RFC: Pair[] = [
  ['case beyond ASCII', utf8('STRASSE ÄÖÜ ΣΑΣ'), utf8('straße äöü σας')],
  ['composed and decomposed letters', utf8('Autorit\u00e9'), utf8('Autorite\u0301')],
  ['a soft hyphen and a zero-width space', utf8('Te\u00adst\u200bRoot'), utf8('TestRoot')],
  ['a no-break space', utf8('Test\u00a0Root'), utf8('Test Root')],
]

const DIFFERENT: Pair[] = [
  ['another text', utf8('Test Root'), utf8('Test Root 2')],
  ['no space where the other has one', utf8('Test Root'), utf8('TestRoot')],
  ['another attribute type', nameOf([{ CN: [{ utf8String: 'Root' }] }]), nameOf([{ O: [{ utf8String: 'Root' }] }])],
  ['the relative names in another order', 'C=NL, CN=Root', 'CN=Root, C=NL'],
  ['one relative name more', 'C=NL, CN=Root', 'C=NL, CN=Root, OU=Unit'],
  [
    'two attributes in one relative name, or in two',
    nameOf([{ C: ['NL'], CN: ['Root'] }]),
    nameOf([{ C: ['NL'] }, { CN: ['Root'] }]),
  ],
  ['the same attribute once and twice', nameOf([{ CN: ['Root'] }, { CN: ['Root'] }]), nameOf([{ CN: ['Root'] }])],
  ['the dotless i', utf8('Testing'), utf8('Test\u0131ng')],
]

/** OpenSSL converts these types; here they are compared by their bytes. */
const DIFFERENT_BY_TYPE: Pair[] = [
  ['BMPString', others('bmpString', 'Root'), utf8('Root')],
  ['UniversalString', others('universalString', 'Root'), utf8('Root')],
  ['IA5String of another attribute than a domain component', others('ia5String', 'Root'), utf8('Root')],
  ['a text with a code point that is assigned to nothing', utf8('Root\u0378'), utf8('root\u0378')],
]

test.each([...SAME, ...SAME_BY_RFC])('names are equal with %s', async (_, a, b) => {
  expect(await areSame(a, b)).toBe(true)
})

describe('different names', () => {
  test.each([...DIFFERENT, ...DIFFERENT_BY_TYPE])('names differ with %s', async (_, a, b) => {
    expect(await areSame(a, b)).toBe(false)
  })

  test('names differ with TeletexString', async () => {
    const name = await subjectOf(utf8('Root'))
    const teletex = Uint8Array.from(name.der)
    teletex[teletex.lastIndexOf(0x0c)] = 0x14
    expect(isSameName(new Name(teletex), name)).toBe(false)
  })

  test('names longer than 4 KiB are compared by their bytes', async () => {
    const long = 'x'.repeat(4096)
    expect(await areSame(utf8(long), printable(long))).toBe(false)
    expect(await areSame(utf8(long), utf8(long))).toBe(true)
  })

  test('names with more than 64 attributes are compared by their bytes', async () => {
    const many = (text: string, length: number) => nameOf(Array.from({ length }, () => ({ CN: [{ utf8String: text }] })))
    expect(await areSame(many('a', 65), many('A', 65))).toBe(false)
    expect(await areSame(many('a', 64), many('A', 64))).toBe(true)
  })

  test('a malformed name differs from any other', () => {
    expect(isSameName(new Name(Uint8Array.of(0x30, 0x02, 0x31)), new Name(Uint8Array.of(0x30, 0x00)))).toBe(false)
  })
})

const directory = mkdtempSync(join(tmpdir(), 'vidimus-names-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const openssl = Bun.which('openssl')

describe.skipIf(openssl === null)('comparison with OpenSSL (skipped if it is not installed)', () => {
  test.each([...SAME.map(pair => [...pair, true] as const), ...DIFFERENT.map(pair => [...pair, false] as const)])(
    'OpenSSL agrees on %s',
    async (_, a, b, same) => {
      const { leaf, root } = await pairOf(a, b)
      expect(judge(leaf, root).isTrusted).toBe(same)
      expect(await verifiedByOpenssl(leaf, root)).toBe(same)
    },
  )
})

async function verifiedByOpenssl(leaf: Issued, root: Issued): Promise<boolean> {
  const [leafFile, rootFile] = [join(directory, 'leaf.pem'), join(directory, 'root.pem')]
  writeFileSync(leafFile, pemOf(leaf.der))
  writeFileSync(rootFile, pemOf(root.der))
  const command = [openssl ?? '', 'verify', '-attime', String(NOW / 1000), '-CAfile', rootFile, leafFile]
  return (await Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' }).exited) === 0
}

async function areSame(a: Named, b: Named): Promise<boolean> {
  const [first, second] = [await subjectOf(a), await subjectOf(b)]
  expect(isSameName(second, first)).toBe(isSameName(first, second))
  return isSameName(first, second)
}

async function subjectOf(name: Named): Promise<Name> {
  const { der } = await issue({ name })
  return describeCertificate(der)!.subject
}

/** The leaf's issuer is `issuer`, the root's own name `subject`. */
async function pairOf(issuer: Named, subject: Named): Promise<{ leaf: Issued; root: Issued }> {
  const root = await issueAuthority({ name: subject, extensions: [isAuthority(0), signsCertificates()] })
  const leaf = await issue({ name: 'C=NL, CN=Signer', issuer: { keys: root.keys, name: issuer } })
  return { leaf, root }
}

function judge(leaf: Issued, root: Issued) {
  const findings = new Findings(() => NOW)
  const toTrust = { chain: [leaf.der], type: 'urn:eudi:pid:1', anchors: new AnchorIndex([anchorOf(root)]) }
  new IssuerTrust().check(findings, { ...toTrust, environment: 'live', now: NOW, steadyNow: NOW }, 'dc+sd-jwt')
  const warnings = findings.all.filter(({ status }) => status === 'warning').map(({ detail }) => detail)
  return { isTrusted: findings.holds('issuer_chain'), warnings }
}
