// The start of a link that opens a wallet. Wallets differ in the scheme that they listen to, and strict ones refuse an authority.

/** Browsers or other apps open these; no wallet listens to them. */
const BROWSER_SCHEMES = [
  'about',
  'blob',
  'chrome',
  'data',
  'file',
  'filesystem',
  'ftp',
  'http',
  'https',
  'javascript',
  'mailto',
  'sms',
  'tel',
  'vbscript',
  'view-source',
  'ws',
  'wss',
]
/** The EU age app, which gets its request by value, and engagement in person (ISO/IEC 18013-5). */
const OTHER_PROTOCOLS = ['av', 'mdoc']
const ISSUANCE = ['eu-eaa-offer', 'haip-vci', 'openid-credential-offer']

const START = /^([a-z][a-z0-9+.-]{1,40})(?::\/\/[a-z0-9.-]{0,100})?$/
const UNIVERSAL_LINK = /^https:\/\/[a-z0-9.-]{1,100}\/[\w.~!$&'()*+,;=:@%/-]{0,200}$/

/**
 * `NAME`, which stands for `NAME://authorize`, `NAME://`, `NAME://HOST`, or the universal link of one wallet, `https://HOST/PATH`.
 * Throws with a reason for anything else.
 */
export function parseLinkStart(text: string): string {
  if (UNIVERSAL_LINK.test(text) && URL.canParse(text)) return text
  if (text.startsWith('https://'))
    throw new Error(`"${text.slice(0, 80)}" must be https://HOST/PATH, without port, user, query and fragment`)
  const scheme = START.exec(text)?.[1]
  const refuse = (reason: string) => new Error(`"${scheme}" ${reason}; use one like openid4vp:// or haip-vp://`)
  if (scheme === undefined)
    throw new Error(`"${text.slice(0, 80)}" is no start of a link; write openid4vp://, or openid4vp for openid4vp://authorize`)
  if (BROWSER_SCHEMES.includes(scheme)) throw refuse('is opened by browsers, not by wallets')
  if (OTHER_PROTOCOLS.includes(scheme)) throw refuse('belongs to another protocol')
  if (ISSUANCE.includes(scheme)) throw refuse('issues credentials')
  return text
}

/** The link up to its query. */
export const linkBase = (start: string): string => (start.includes('://') ? start : `${start}://authorize`)

/** Starts that EU wallets (ETSI TS 119 472-2, REDIRECTS-03) and HAIP wallets (§ 5.1) listen to: no link opens all wallets. */
const FURTHER_STARTS = ['eu-eaap://', 'haip-vp://']

/** Without the scheme of the main one. */
export const furtherStarts = (main: string): string[] => FURTHER_STARTS.filter(start => !linkBase(main).startsWith(start))
