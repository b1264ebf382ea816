#!/usr/bin/env bun
// Makes the package for merchants in dist/sdk: src/sdk as plain ES modules with declarations, and without any dependency. It is
// compiled beside the types of the wire written out, away from the service: so it cannot need anything else, not even the types
// of Bun or Node.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Device, RegisterDevice, RegisteredDevice, TokenPair } from '../../src/devices/schema.ts'
import { ERRORS } from '../../src/http/errors.ts'
import { Rule, Template } from '../../src/templates/schema.ts'
import { Usage } from '../../src/usage/schema.ts'
import { DcAnswered, DcRequests, ServerRequest } from '../../src/verifications/exchange/dc-schema.ts'
import {
  Comparison,
  CreateVerification,
  CredentialResult,
  ErasureResult,
  Finding,
  ListQuery,
  Verification,
  VerificationStatus,
} from '../../src/verifications/schema.ts'
import { typesOf } from './schema-types.ts'

const ROOT = join(import.meta.dir, '../..')
const ENTRANCES = ['browser', 'client', 'webhook']
const COMPILER_OPTIONS = {
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
  declaration: true,
}

/** The package, in a directory that is made anew. */
export async function buildSdk(out: string): Promise<void> {
  const staging = mkdtempSync(join(tmpdir(), 'vidimus-sdk-'))
  try {
    rmSync(out, { recursive: true, force: true })
    mkdirSync(out, { recursive: true })
    cpSync(join(ROOT, 'src/sdk'), staging, { recursive: true, filter: path => !path.endsWith('.json') })
    writeFileSync(join(staging, 'wire.ts'), wireTypes())
    writeFileSync(join(staging, 'package.json'), '{"type":"module"}')
    writeFileSync(join(staging, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...COMPILER_OPTIONS, outDir: out } }))
    await compile(staging)
    await pointToDeclarations(out)
    // Types alone: nothing imports it.
    rmSync(join(out, 'wire.js'))
    cpSync(join(ROOT, 'LICENSE'), join(out, 'LICENSE'))
    cpSync(join(ROOT, 'src/handbook/pages/sdk.md'), join(out, 'README.md'))
    cpSync(join(ROOT, 'src/sdk/webhook-vectors.json'), join(out, 'webhook-vectors.json'))
    writeFileSync(join(out, 'package.json'), `${JSON.stringify(await manifest(out), null, 2)}\n`)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

const wireTypes = (): string => `// Made by scripts/build/sdk.ts from the schemas of the service.

${typesOf({
  CreateVerification,
  Verification,
  CredentialResult,
  Finding,
  VerificationStatus,
  ListQuery,
  ErasureResult,
  Comparison,
  RegisterDevice,
  RegisteredDevice,
  Device,
  TokenPair,
  Template,
  Rule,
  Usage,
  DcServerRequest: ServerRequest,
  DcRequests,
  DcAnswered,
})}
/** Every refusal of the service; \`code\` is stable. */
export type ErrorCode =
${Object.keys(ERRORS)
  .map(code => `  | '${code}'`)
  .join('\n')}
`

async function compile(dir: string): Promise<void> {
  const child = Bun.spawn([join(ROOT, 'node_modules/.bin/tsc'), '-p', dir], { stdout: 'pipe', stderr: 'inherit' })
  const complaints = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(complaints)
}

/** The compiler rewrites what code imports, but not what declarations do: they would name sources that are not there. */
async function pointToDeclarations(out: string): Promise<void> {
  for (const name of readdirSync(out).filter(name => name.endsWith('.d.ts'))) {
    const file = Bun.file(join(out, name))
    await file.write((await file.text()).replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
  }
}

async function manifest(out: string) {
  const { name, version, description, license } = await Bun.file(join(ROOT, 'package.json')).json()
  const entrances = ENTRANCES.map(entrance => [`./${entrance}`, { types: `./${entrance}.d.ts`, default: `./${entrance}.js` }])
  return {
    name,
    version,
    description: `${description}: client, webhook verifier and wallet call of pages`,
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: { ...Object.fromEntries(entrances), './webhook-vectors.json': './webhook-vectors.json' },
    files: readdirSync(out),
  }
}

if (import.meta.main) {
  const out = join(ROOT, 'dist/sdk')
  await buildSdk(out)
  console.log(`${out}\n\nnpm pack ./dist/sdk makes the tarball.`)
}
