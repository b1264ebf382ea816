import { useEffect, useState } from 'preact/hooks'

const SYMBOLS = 8

/** The code of the link that opened this page, taken out of the address: a bookmark or a reload must not bring it back. */
export function usePairingCode(): [code: string | undefined, forget: () => void] {
  const [code, setCode] = useState(takeCode)
  useEffect(() => {
    const follow = () => setCode(before => takeCode() ?? before)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return [code, () => setCode(undefined)]
}

function takeCode(): string | undefined {
  const code = codeIn(location.hash)
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search)
  return code
}

/** The code in a pairing link. */
const codeIn = (link: string): string | undefined => /#pair=([\w%-]{1,64})/.exec(link)?.[1]

/** The code in what a camera read: the dashboard's link, or the code alone. */
export function scannedCode(text: string): string | undefined {
  const code = codeIn(text) ?? text
  return isWhole(code) ? code : undefined
}

/** Whether it can be a code at all: wrong ones cost tries, of which there are few. Which letters stand for which the server knows. */
export function isWhole(typed: string): boolean {
  const packed = typed.toUpperCase().replace(/[\s\p{Pd}]/gu, '')
  return (
    /^(VD)?[A-Z0-9]+$/.test(packed) && (packed.length === SYMBOLS || (packed.length === SYMBOLS + 2 && packed.startsWith('VD')))
  )
}
