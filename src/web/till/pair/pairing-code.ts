import { useEffect, useState } from 'preact/hooks'

const SYMBOLS = 8

/** The pairing code in the address, removed from it so that no bookmark or reload repeats it. */
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

const codeIn = (link: string): string | undefined => /#pair=([\w%-]{1,64})/.exec(link)?.[1]

/** The code in a scanned text: the dashboard's link, or the code alone. */
export function scannedCode(text: string): string | undefined {
  const code = codeIn(text) ?? text
  return isWhole(code) ? code : undefined
}

/** Whether it may be a code: the server allows few wrong tries. It maps similar letters itself. */
export function isWhole(typed: string): boolean {
  const packed = typed.toUpperCase().replace(/[\s\p{Pd}]/gu, '')
  return (
    /^(VD)?[A-Z0-9]+$/.test(packed) && (packed.length === SYMBOLS || (packed.length === SYMBOLS + 2 && packed.startsWith('VD')))
  )
}
