// Runs the recipes of the handbook's pages on webhooks unchanged against the
// vectors. Languages that this machine lacks are skipped with a message.
import { expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { signWebhook, verifyWebhook } from '../../src/sdk/webhook.ts'
import { temporaryDir } from '../helpers/app.ts'
import { bodyOf, type VerifyVector, verifyVectors } from './vectors.ts'

const ROOT = resolve(import.meta.dir, '../..')

// A recipe has one secret, leaves limits to the web server, and does not check the fields of an event.
const CASES = verifyVectors.filter(
  ({ secrets, group, expect }) =>
    secrets.length === 1 && expect !== 'invalid_payload' && !(group === 'limit' && expect !== 'accept'),
)
const outcomes = (cases: VerifyVector[]) =>
  cases.map(({ name, expect }) => `${name}: ${expect === 'accept' ? 'accept' : 'refuse'}`)
const outcomesSaid = (cases: VerifyVector[], said: string) => {
  const words = said.trim().split(/\s+/)
  expect(words).toHaveLength(cases.length)
  return cases.map(({ name }, index) => `${name}: ${words[index]}`)
}

const [completed] = verifyVectors.map(({ payload = '' }) => payload)
const [secret] = verifyVectors.flatMap(({ secrets }) => secrets)

recipe('typescript', 'bun', async (code, dir) => {
  copyFileSync(join(ROOT, 'src/sdk/webhook.ts'), join(dir, 'webhook.ts'))
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ name: 'vidimus', exports: { './webhook': './webhook.ts' } }))
  writeFileSync(join(dir, 'recipe.ts'), code)
  writeFileSync(join(dir, 'driver.ts'), TYPESCRIPT_DRIVER)
  const now = Math.floor(Date.now() / 1000)
  const sign = (timestamp: number) => signWebhook({ payload: completed ?? '', secrets: [secret ?? ''], timestamp })
  const headers = [await sign(now), await sign(now - 400), `t=${now},v1=${'0'.repeat(64)}`, 'nonsense']
  const run = (env: Record<string, string>) =>
    execFileSync(process.execPath, [join(dir, 'driver.ts'), JSON.stringify({ completed, headers })], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })
  const said = run({ WEBHOOK_SECRET: secret ?? '' })
    .trim()
    .split('\n')
  expect(said).toContain('verification.completed vs_7Jb2Vd0Qm4sKXr9aTzN1hY')
  expect(said.at(-1)).toBe('204, 400 timestamp_out_of_tolerance, 400 no_match, 400 malformed_header')
  expect(run({ WEBHOOK_SECRET: '' }).trim()).toStartWith('TypeError')
})

const TYPESCRIPT_DRIVER = `
import { receive } from './recipe.ts'
const { completed, headers } = JSON.parse(process.argv[2])
const ask = async header => {
  const answer = await receive(
    new Request('http://localhost/', { method: 'POST', body: completed, headers: { 'x-service-signature': header } }),
  )
  return [answer.status, await answer.text()].join(' ').trim()
}
try {
  const said = []
  for (const header of headers) said.push(await ask(header))
  console.log(said.join(', '))
} catch (error) {
  console.log(error.name)
}
`

recipe('python', 'python3', (code, dir, program) => {
  writeFileSync(join(dir, 'recipe.py'), code)
  writeFileSync(join(dir, 'driver.py'), PYTHON_DRIVER)
  expect(outcomesSaid(CASES, run(program, [join(dir, 'driver.py'), casesFile(dir)]))).toEqual(outcomes(CASES))
})

const PYTHON_DRIVER = `
import base64, json, sys
from recipe import verify_webhook
for case in json.load(open(sys.argv[1])):
    payload = base64.b64decode(case["payload"])
    try:
        event = verify_webhook(payload, case["header"], case["secret"], case["tolerance"], case["now"])
        print("accept" if event == json.loads(payload) else "wrong")
    except ValueError:
        print("refuse")
try:
    verify_webhook(b"{}", "t=1,v1=", "", 300, 1)
    print("an empty secret must not pass")
except RuntimeError:
    pass
`

recipe('php', 'php', (code, dir, program) => {
  writeFileSync(join(dir, 'recipe.php'), code)
  writeFileSync(join(dir, 'driver.php'), PHP_DRIVER)
  expect(outcomesSaid(CASES, run(program, [join(dir, 'driver.php'), casesFile(dir)]))).toEqual(outcomes(CASES))
})

const PHP_DRIVER = `<?php
require __DIR__ . '/recipe.php';
foreach (json_decode(file_get_contents($argv[1]), true) as $case) {
    $payload = base64_decode($case['payload']);
    try {
        $event = verify_webhook($payload, $case['header'], $case['secret'], $case['tolerance'], $case['now']);
        echo $event === json_decode($payload, true) ? "accept\\n" : "wrong\\n";
    } catch (UnexpectedValueException) {
        echo "refuse\\n";
    }
}
try {
    verify_webhook('{}', 't=1,v1=', '', 300, 1);
    echo "an empty secret must not pass\\n";
} catch (LogicException) {
}
`

recipe('go', 'go', (code, dir, program) => {
  writeFileSync(join(dir, 'go.mod'), 'module recipe\n\ngo 1.21\n')
  writeFileSync(join(dir, 'recipe.go'), code)
  writeFileSync(join(dir, 'driver.go'), GO_DRIVER)
  expect(outcomesSaid(CASES, run(program, ['run', '.', casesFile(dir)], dir))).toEqual(outcomes(CASES))
})

const GO_DRIVER = `package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

type vector struct {
	Payload   []byte
	Header    string
	Secret    string
	Tolerance int64
	Now       int64
}

func main() {
	text, _ := os.ReadFile(os.Args[1])
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		panic(err)
	}
	for _, v := range vectors {
		event, err := VerifyWebhook(v.Payload, v.Header, v.Secret, time.Duration(v.Tolerance)*time.Second, time.Unix(v.Now, 0))
		switch {
		case err != nil:
			fmt.Println("refuse")
		case !bytes.Contains(v.Payload, event.Verification) || event.SentAt.IsZero() || event.Type == "":
			fmt.Println("wrong")
		default:
			fmt.Println("accept")
		}
	}
	if _, err := VerifyWebhook([]byte("{}"), "t=1,v1=", "", 0, time.Unix(1, 0)); err == nil || err.Error() != "not a webhook secret" {
		fmt.Println("an empty secret must not pass")
	}
}
`

// The shell recipe only reads headers as the service sends them; odd ones are a matter for servers.
const SHELL_CASES = CASES.filter(({ group }) => ['signature', 'secret', 'rotation', 'time'].includes(group))

recipe('openssl', 'openssl', (code, dir) => {
  const calls = SHELL_CASES.map((vector, index) => {
    writeFileSync(join(dir, `${index}.body`), bodyOf(vector))
    const words = [`${index}.body`, vector.header ?? '', vector.secrets[0] ?? '', vector.tolerance ?? 300, vector.now]
    return `(verify_webhook ${words.map(word => `'${word}'`).join(' ')} >/dev/null) && echo accept || echo refuse`
  })
  const said = run('sh', ['-c', [code, ...calls].join('\n')], dir)
  expect(outcomesSaid(SHELL_CASES, said)).toEqual(outcomes(SHELL_CASES))
  const injected = run('sh', ['-c', `${code}\nverify_webhook 0.body 't=a[$(touch pwned)],v1=' whsec_x 300 1 || ls`], dir)
  expect(injected).toContain('refused: no time')
  expect(injected).not.toContain('pwned')
})

test.skipIf(!Bun.which('curl') || !Bun.which('openssl'))(
  'handbook: the curl recipe sends a message that is genuine',
  async () => {
    const dir = temporaryDir()
    const received: string[] = []
    const receiver = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { verification } = await verifyWebhook({
          payload: await request.arrayBuffer(),
          header: request.headers.get('x-service-signature'),
          secret: secret ?? '',
        })
        received.push(verification.id)
        return new Response('thanks')
      },
    })
    const file = join(dir, 'body.json')
    writeFileSync(file, `${completed}\n`)
    const env = { ...process.env, BODY_FILE: file, WEBHOOK_SECRET: secret, RECEIVER_URL: receiver.url.href, no_proxy: '*' }
    const shell = Bun.spawn(['sh', '-c', recipeOf('send a webhook (curl)')], { env, stdout: 'pipe', stderr: 'ignore' })
    expect(await new Response(shell.stdout).text()).toBe('thanks')
    expect(received).toEqual(['vs_7Jb2Vd0Qm4sKXr9aTzN1hY'])
    await receiver.stop(true)
  },
)

function recipe(language: string, program: string, check: (code: string, dir: string, program: string) => void | Promise<void>) {
  const found = program === 'bun' ? process.execPath : Bun.which(program)
  const title = `the ${language} recipe accepts and refuses as the vectors say`
  test.skipIf(!found)(found ? `handbook: ${title}` : `SKIPPED, as there is no ${program} here: ${title}`, async () => {
    await check(recipeOf(`verify webhook (${language})`), temporaryDir(), found ?? '')
  })
}

/** The code block whose first line has the mark. */
function recipeOf(mark: string): string {
  const pages = ['src/handbook/pages/webhooks.md', 'src/handbook/pages/recipes/verify-a-webhook.md'].map(name =>
    readFileSync(join(ROOT, name), 'utf8'),
  )
  const blocks = pages.join('\n').matchAll(/^```\w+\n([\s\S]*?)^```$/gm)
  const marked = [...blocks].map(([, code = '']) => code).filter(code => code.split('\n', 1)[0]?.includes(`vidimus: ${mark}`))
  if (marked.length !== 1) throw new Error(`there are ${marked.length} blocks marked "vidimus: ${mark}"`)
  return marked[0] ?? ''
}

function casesFile(dir: string): string {
  const file = join(dir, 'cases.json')
  const cases = CASES.map(vector => ({
    payload: Buffer.from(bodyOf(vector)).toString('base64'),
    header: vector.header,
    secret: vector.secrets[0],
    tolerance: vector.tolerance ?? 300,
    now: vector.now,
  }))
  writeFileSync(file, JSON.stringify(cases))
  return file
}

function run(program: string, args: string[], cwd?: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8' })
}
