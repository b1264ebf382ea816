// A call of the API in four languages, without a library beyond what each language brings.

/** `isText`: the answer is no JSON, and may come in parts. */
export type Call = { method: string; path: string; needsKey: boolean; isText: boolean; body?: unknown }

export const LANGUAGES = { curl, typescript, python, php } as const
export type Language = keyof typeof LANGUAGES
export const LANGUAGE_NAMES: Record<Language, string> = { curl: 'curl', typescript: 'TypeScript', python: 'Python', php: 'PHP' }

const json = (body: unknown): string => JSON.stringify(body)

/** An id in the path is the variable ID of the environment. */
const withId = (path: string, id: string): string => path.replace(/\{\w+\}/g, () => id)

function curl({ method, path, needsKey, body }: Call): string {
  const words = [
    method === (body === undefined ? 'GET' : 'POST') ? '' : ` -X ${method}`,
    ` "$VIDIMUS_URL${withId(path, '$ID')}"`,
    needsKey ? ' \\\n  -H "Authorization: Bearer $API_KEY"' : '',
    body === undefined ? '' : ` \\\n  -H "Content-Type: application/json" \\\n  -d '${json(body)}'`,
  ]
  return `curl${words.join('')}`
}

function typescript({ method, path, needsKey, isText, body }: Call): string {
  const headers = [
    needsKey ? `authorization: \`Bearer \${process.env.API_KEY}\`` : '',
    body === undefined ? '' : "'content-type': 'application/json'",
  ].filter(Boolean)
  const options = [
    method === 'GET' ? '' : `  method: '${method}',`,
    headers.length ? `  headers: { ${headers.join(', ')} },` : '',
    body === undefined ? '' : `  body: JSON.stringify(${json(body)}),`,
  ].filter(Boolean)
  const init = options.length ? `, {\n${options.join('\n')}\n}` : ''
  const print = isText
    ? 'for await (const bytes of response.body ?? []) process.stdout.write(bytes)'
    : 'console.log(await response.json())'
  return `const response = await fetch(\`\${process.env.VIDIMUS_URL}${withId(path, `\${process.env.ID}`)}\`${init})
if (!response.ok) throw new Error((await response.json()).error.code)
${print}`
}

function python({ method, path, needsKey, isText, body }: Call): string {
  const headers = [
    needsKey ? `"Authorization": f"Bearer {os.environ['API_KEY']}"` : '',
    body === undefined ? '' : '"Content-Type": "application/json"',
  ].filter(Boolean)
  const more = [
    `method="${method}"`,
    headers.length ? `headers={${headers.join(', ')}}` : '',
    body === undefined ? '' : `data=json.dumps(${pythonLiteral(body)}).encode()`,
  ].filter(Boolean)
  return `import ${isText ? '' : 'json, '}os, urllib.request

request = urllib.request.Request(
    f"{os.environ['VIDIMUS_URL']}${withId(path, "{os.environ['ID']}")}",
${more.map(each => `    ${each},`).join('\n')}
)
with urllib.request.urlopen(request, timeout=30) as response:
    ${isText ? 'for line in response:\n        print(line.decode(), end="")' : 'print(json.load(response))'}`
}

const pythonLiteral = (value: unknown): string =>
  json(value)
    .replace(/\btrue\b/g, 'True')
    .replace(/\bfalse\b/g, 'False')
    .replace(/\bnull\b/g, 'None')

function php({ method, path, needsKey, isText, body }: Call): string {
  const headers = [
    needsKey ? "'Authorization: Bearer ' . getenv('API_KEY')" : '',
    body === undefined ? '' : "'Content-Type: application/json'",
  ].filter(Boolean)
  const url = `getenv('VIDIMUS_URL') . '${withId(path, "' . getenv('ID') . '")}'`.replace(/ \. ''$/, '')
  return `<?php
$context = stream_context_create(['http' => [
    'method' => '${method}',
    'header' => [${headers.join(', ')}],${body === undefined ? '' : `\n    'content' => json_encode(${phpLiteral(body)}),`}
    'ignore_errors' => true,
    'timeout' => 30,
]]);
${isText ? `readfile(${url}, false, $context);` : `print_r(json_decode(file_get_contents(${url}, false, $context), true));`}`
}

function phpLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(phpLiteral).join(', ')}]`
  if (value !== null && typeof value === 'object')
    return `[${Object.entries(value)
      .map(([name, each]) => `'${name}' => ${phpLiteral(each)}`)
      .join(', ')}]`
  return typeof value === 'string' ? `'${value.replace(/[\\']/g, '\\$&')}'` : String(value)
}
