import type { WireRequest } from './wire.ts'

/** As good as a shell can say it; `$URL` is where the service listens. */
export function curlLine({ method, target, headers, body }: WireRequest): string {
  const quoted = (text: string) =>
    `$'${[...text].map(char => (/[\w .,:;/?=&%+@*{}[\]"<>-]/.test(char) ? char : escaped(char))).join('')}'`
  const shown = headers.map(([name, value]) => `-H ${quoted(`${name}: ${value.slice(0, 200)}`)}`)
  const data = body ? ` --data-binary ${quoted(Buffer.from(body.subarray(0, 2000)).toString('latin1'))}` : ''
  return `curl --path-as-is -i -X ${quoted(method)} "$URL"${quoted(target)} ${shown.join(' ')}${data}`
}

const escaped = (char: string): string => {
  const code = char.codePointAt(0) ?? 0
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}
